import parseRange from 'range-parser';

/** A representation as its validators know it. */
export interface Validators {
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  readonly size: number;
}

/** Bytes from first to last, both inclusive. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** What a conditional request is to be answered with. */
export type Selection =
  | { readonly status: 200 }
  | { readonly status: 206; readonly ranges: readonly ByteRange[] }
  | { readonly status: 304 }
  | { readonly status: 412 }
  | { readonly status: 416 };

type Headers = Readonly<Record<string, string | string[] | undefined>>;
const mostRanges = 64; // more is no reader but a burden: the whole is sent

const text = (header: string | string[] | undefined) => (Array.isArray(header) ? header.join(', ') : header);
const tagsOf = (list: string) => list.split(',').map((tag) => tag.trim());
const weakly = (tag: string) => tag.replace(/^W\//, '');
const seconds = (milliseconds: number) => Math.floor(milliseconds / 1000);
const dateOf = (header: string | undefined) => (header === undefined ? Number.NaN : seconds(Date.parse(header)));

/** RFC 9110, 13.1.1 (strong comparison) and 13.1.4. */
function isStale(headers: Headers, { etag, modified }: Validators): boolean {
  const ifMatch = text(headers['if-match']);
  if (ifMatch !== undefined) return !tagsOf(ifMatch).some((tag) => tag === '*' || tag === etag);
  return seconds(modified) > dateOf(text(headers['if-unmodified-since']));
}

/** Does If-None-Match name the validator? RFC 9110, 13.1.2 (weak comparison). */
export const isKnown = (ifNoneMatch: string, etag: string) => tagsOf(ifNoneMatch).some((tag) => tag === '*' || weakly(tag) === etag);

/** RFC 9110, 13.1.2 and 13.1.3. */
function isUnchanged(headers: Headers, { etag, modified }: Validators): boolean {
  const ifNoneMatch = text(headers['if-none-match']);
  if (ifNoneMatch !== undefined) return isKnown(ifNoneMatch, etag);
  return seconds(modified) <= dateOf(text(headers['if-modified-since']));
}

/** RFC 9110, 13.1.5: a part is wanted only of the very same bytes; a date is a strong validator only for a second long past. */
function wantsPart(headers: Headers, { etag, modified }: Validators): boolean {
  const ifRange = text(headers['if-range']);
  if (ifRange === undefined) return true;
  return ifRange.includes('"') ? ifRange.trim() === etag : dateOf(ifRange) === seconds(modified);
}

/** RFC 9110, 14.1.2: the last so many bytes of a file that has fewer are all of it. */
const withinFile = (range: string, size: number) =>
  range.replace(/([=,]\s*)-(\d+)/g, (whole, before: string, last: string) => (size > 0 && Number(last) > size ? `${before}0-` : whole));

/** RFC 9110, 14.2: a Range that is not understood is ignored; one that lies outside is 416. */
export function select(method: string, headers: Headers, validators: Validators): Selection {
  if (isStale(headers, validators)) return { status: 412 };
  if (isUnchanged(headers, validators)) return { status: 304 };
  const range = text(headers['range']);
  if (method !== 'GET' || range === undefined || !/^bytes=/i.test(range) || !wantsPart(headers, validators)) return { status: 200 };
  if (range.split(',', mostRanges + 1).length > mostRanges) return { status: 200 }; // not read: thousands take milliseconds
  const ranges = parseRange(validators.size, withinFile(range, validators.size), { combine: true });
  if (ranges === -1) return { status: 416 };
  return ranges === -2 ? { status: 200 } : { status: 206, ranges };
}
