import { fillFilter } from '#core/ldap/ldap-text.ts';
import { DirectoryRefused } from '#ports/directory.ts';

/** Returns a filter whose placeholders are filled. @throws DirectoryRefused if it is too long */
export function searchFilter(template: string, values: Readonly<Record<string, string>>): string {
  const filter = fillFilter(template, values);
  if (filter === null) throw new DirectoryRefused('A filter is too long after the DN or name of the user is inserted.');
  return filter;
}
