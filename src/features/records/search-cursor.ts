import { fieldRefusal } from '#core/messages.ts';

/** A position in the results of a search: after this record. */
export interface Cursor {
  readonly value: string | number;
  readonly id: number;
  /** The number of records up to this position. */
  readonly index: number;
}

/** Returns the text of a cursor for the address of the next page. It is valid for this sort field and order only. */
export const writeCursor = (field: string, order: string, { value, id, index }: Cursor): string =>
  Buffer.from(JSON.stringify([field, order, value, id, index])).toString('base64url');

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0;

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
}

/** Parses a cursor. @throws Refusal (400) if it does not come from a search with this sort field and order */
export function readCursor(text: string, field: string, order: string): Cursor {
  const parsed = parse(text);
  const [cursorField, cursorOrder, value, id, index]: unknown[] = Array.isArray(parsed) ? parsed : [];
  const isValid =
    cursorField === field &&
    cursorOrder === order &&
    (typeof value === 'string' || typeof value === 'number') &&
    isCount(id) &&
    isCount(index);
  if (!isValid || String(value).includes('\0'))
    throw fieldRefusal('after', 'must come from the Link header of a search with the same sortField and sortOrder');
  return { value, id, index };
}
