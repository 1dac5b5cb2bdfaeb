import type { Visit } from '#core/records/visit.ts';
import { visibleName } from '#core/translations/visible-name.ts';
import type { Translation } from '#visitor/translations/use-translation.ts';

/** Returns the heading of a sign-in form. Before sign-in, the title is empty at a link with its own password. */
export const signInTitle = ({ title }: Visit['signIn'], { translate }: Translation): string =>
  title === '' ? translate('signIn') : visibleName(title);
