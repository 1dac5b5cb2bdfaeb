import { stringify } from 'csv-stringify/browser/esm/sync';
import type { AccessUser } from '#core/records/access-user.ts';
import { importFields } from './import-columns.ts';

const columns = importFields.filter((field) => field !== 'password');

/** Writes users as CSV, without passwords, which nobody can read. No cell is a formula to a spreadsheet (OWASP, CSV injection). */
export function writeCsv(users: readonly Pick<AccessUser, (typeof columns)[number]>[]): string {
  return stringify([...users], {
    header: true,
    columns,
    cast: { boolean: String },
    escape_formulas: true,
    quoted_match: /;/,
    record_delimiter: '\r\n',
    eof: false,
  });
}
