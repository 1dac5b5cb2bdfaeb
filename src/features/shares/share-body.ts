import { fold } from '#core/fold.ts';
import { parseInstant } from '#core/instant.ts';
import { formatItemPath, parseItemPath, pathRule } from '#core/item-path.ts';
import { formatList, listLength, parseList } from '#core/list-text.ts';
import { fieldRefusal, runChecks } from '#core/messages.ts';
import { limits } from '#core/records/field.ts';
import { normalizeText } from '#core/unicode.ts';

const emailShape = /^[^\s@,]+@[^\s@,]+$/;
const maxEmailLength = 254;

/** Parses a date of a request. Returns undefined if it is absent, null if it is null or empty. @throws Refusal 400 at the field */
function parseDate(field: 'validityStartDate' | 'validityEndDate', text: string | null | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === null || text === '') return null;
  const instant = parseInstant(text, field === 'validityStartDate' ? 'firstOfDay' : 'firstOfNextDay');
  if (instant === null) throw fieldRefusal(field, 'must be an existing date or date-time in ISO 8601 format');
  return instant;
}

interface Dates {
  readonly validityStartDate?: string | null;
  readonly validityEndDate?: string | null;
}

/**
 * Returns the period in which the share is valid, with the dates of a request merged in: absent dates stay as they are.
 * @returns ms since the epoch; `from` is included, `to` is not; null is no limit
 * @throws Refusal 400 at the field, also for an end that is not after the start
 */
export function parseValidity(dates: Dates, before: Dates = {}): { from: number | null; to: number | null } {
  const allDates = { ...before, ...dates };
  const from = parseDate('validityStartDate', allDates.validityStartDate) ?? null;
  const to = parseDate('validityEndDate', allDates.validityEndDate) ?? null;
  if (from !== null && to !== null && to <= from) throw fieldRefusal('validityEndDate', 'must be after validityStartDate');
  return { from, to };
}

/** Parses a list of a request into its entries. @throws Refusal 400 at the field */
export function parseListField(field: string, text: string | null | undefined): string[] {
  const entries = parseList(normalizeText(text ?? ''), limits.list);
  if (!entries) throw fieldRefusal(field, 'has a quote that is not closed, or text after a closing quote');
  if (listLength(entries) > limits.list) throw fieldRefusal(field, `must be at most ${limits.list} characters long`);
  return entries;
}

/** Returns the e-mail addresses of a request, each once, as a list text. @throws Refusal 400 at notifyEmails */
export function parseNotifyEmails(text: string | null | undefined): string {
  const entries = parseListField('notifyEmails', text);
  const invalid = entries.find((entry) => !emailShape.test(entry) || entry.length > maxEmailLength);
  if (invalid !== undefined) throw fieldRefusal('notifyEmails', `"${invalid}" is not an e-mail address`);
  return formatList(entries);
}

/** Parses the path of a share into its segments. @throws Refusal 400 at path */
export function parseSharePath(text: string) {
  const path = parseItemPath(text);
  if (!path) throw fieldRefusal('path', pathRule);
  return path;
}

/** Returns the path in a canonical spelling, so that /a and a/ are the same. */
export const sharePathKey = (text: string) => formatItemPath(parseSharePath(text));

/** Returns the text in which share/search looks for words. The location's name is searched in addition. */
export const shareSearchText = (share: { title: string; description: string; path: string; view_id: string }) =>
  fold([share.title, share.description, share.path, share.view_id].join('\u001f'));

interface CheckedTexts extends Dates {
  readonly notifyEmails?: string | null;
  readonly userNames?: string | null;
  readonly groupNames?: string | null;
}

/** Checks the dates, the e-mail addresses and the lists of names. @throws Refusal 400 with all field errors, but only one for the dates */
export const checkTexts = (body: CheckedTexts, before: Dates = {}) =>
  runChecks(
    () => parseValidity(body, before),
    () => parseNotifyEmails(body.notifyEmails),
    () => parseListField('userNames', body.userNames),
    () => parseListField('groupNames', body.groupNames),
  );
