import { fold } from '#core/fold.ts';
import { parseInstant } from '#core/instant.ts';
import { formatItemPath, parseItemPath, pathRule } from '#core/item-path.ts';
import { formatList, listLength, parseList } from '#core/list-text.ts';
import { checkTogether, fieldRefusal } from '#core/messages.ts';
import { limits } from '#core/records/field.ts';
import { normalizeText } from '#core/unicode.ts';

const emailShape = /^[^\s@,]+@[^\s@,]+$/;
const longestEmail = 254;

/** An instant in a body: undefined stays, null or an empty text clears. @throws 400 at the field */
function instantIn(field: 'validityStartDate' | 'validityEndDate', text: string | null | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === null || text === '') return null;
  const found = parseInstant(text, field === 'validityStartDate' ? 'firstOfDay' : 'firstOfNextDay');
  if (found === null) throw fieldRefusal(field, 'must be an ISO 8601 date or date-time that exists');
  return found;
}

interface Dates {
  readonly validityStartDate?: string | null;
  readonly validityEndDate?: string | null;
}

/** The window as it will be, half-open; what is not sent stays. @throws 400 at the field, and for an end that is not after its start */
export function windowIn(sent: Dates, before: Dates = {}): { from: number | null; to: number | null } {
  const merged = { ...before, ...sent };
  const from = instantIn('validityStartDate', merged.validityStartDate) ?? null;
  const to = instantIn('validityEndDate', merged.validityEndDate) ?? null;
  if (from !== null && to !== null && to <= from) throw fieldRefusal('validityEndDate', 'must be after validityStartDate');
  return { from, to };
}

/** The entries of a list. @throws 400 at the field */
export function listIn(field: string, text: string | null | undefined): string[] {
  const entries = parseList(normalizeText(text ?? ''));
  if (!entries) throw fieldRefusal(field, 'has a quote that is not closed, or text behind a closing quote');
  if (listLength(entries) > limits.list) throw fieldRefusal(field, `must be at most ${limits.list} characters long`);
  return entries;
}

/** E-mail addresses, each once. @throws 400 at the field */
export function emailsIn(text: string | null | undefined): string {
  const entries = listIn('notifyEmails', text);
  const wrong = entries.find((entry) => !emailShape.test(entry) || entry.length > longestEmail);
  if (wrong !== undefined) throw fieldRefusal('notifyEmails', `"${wrong}" is not an e-mail address`);
  return formatList(entries);
}

/** The path of a share as checked segments. @throws 400 at the field */
export function pathIn(text: string) {
  const path = parseItemPath(text);
  if (!path) throw fieldRefusal('path', pathRule);
  return path;
}

/** The path in one spelling, so that /a and a/ are found alike. */
export const pathKey = (text: string) => formatItemPath(pathIn(text));

/** What share/search looks a word up in; the location's name is looked up beside it. */
export const shareSearchText = (share: { title: string; description: string; path: string; view_id: string }) =>
  fold([share.title, share.description, share.path, share.view_id].join('\u001f'));

interface Texts extends Dates {
  readonly notifyEmails?: string | null;
  readonly userNames?: string | null;
  readonly groupNames?: string | null;
}

/** Looks at every text that has a form of its own. @throws 400 with all that are wrong */
export const checkTexts = (body: Texts, before: Dates = {}) =>
  checkTogether(
    () => windowIn(body, before),
    () => emailsIn(body.notifyEmails),
    () => listIn('userNames', body.userNames),
    () => listIn('groupNames', body.groupNames),
  );
