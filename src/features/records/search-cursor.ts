import { fieldRefusal } from '#core/messages.ts';

/** Where a walk through the pages of a search stands: behind this record. */
export interface Cursor {
  readonly value: string | number;
  readonly id: number;
  /** How many records lie before. */
  readonly index: number;
}

/** A cursor as the address of the next page names it; it fits one order only. */
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

/** @throws 400 for what no search of this order has named */
export function readCursor(text: string, field: string, order: string): Cursor {
  const parsed = parse(text);
  const [ofField, ofOrder, value, id, index]: unknown[] = Array.isArray(parsed) ? parsed : [];
  const fits =
    ofField === field && ofOrder === order && (typeof value === 'string' || typeof value === 'number') && isCount(id) && isCount(index);
  if (!fits || String(value).includes('\0'))
    throw fieldRefusal('after', 'must be one that the Link header of a search in this order has named');
  return { value, id, index };
}
