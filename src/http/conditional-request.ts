import parseRange from 'range-parser';
import type { ByteRange } from '#ports/storage.ts';

/** The validators and the size of a representation. */
export interface Validators {
  readonly etag: string;
  /** Milliseconds since the epoch. */
  readonly modified: number;
  readonly size: number;
}

/** The status that answers a conditional request, and the ranges of a 206. */
export type ConditionalResult =
  | { readonly status: 200 }
  | { readonly status: 206; readonly ranges: readonly ByteRange[] }
  | { readonly status: 304 }
  | { readonly status: 412 }
  | { readonly status: 416 };

type Headers = Readonly<Record<string, string | string[] | undefined>>;
const maxRanges = 64; // a request for more gets the entire file: no real client needs so many

const joinHeader = (header: string | string[] | undefined) => (Array.isArray(header) ? header.join(', ') : header);
const tagsOf = (list: string) => list.split(',').map((tag) => tag.trim());
const withoutWeakPrefix = (tag: string) => tag.replace(/^W\//, '');
const toSeconds = (milliseconds: number) => Math.floor(milliseconds / 1000);
const parseDate = (header: string | undefined) => (header === undefined ? Number.NaN : toSeconds(Date.parse(header)));

/** Returns whether If-Match (RFC 9110, 13.1.1) or If-Unmodified-Since (13.1.4) fails. An equal weak ETag counts as a match. */
function failsPrecondition(headers: Headers, { etag, modified }: Validators): boolean {
  const ifMatch = joinHeader(headers['if-match']);
  if (ifMatch !== undefined) return !tagsOf(ifMatch).some((tag) => tag === '*' || tag === etag);
  return toSeconds(modified) > parseDate(joinHeader(headers['if-unmodified-since']));
}

/** Returns whether If-None-Match names the ETag (RFC 9110, 13.1.2). If `etag` itself is weak, only `*` matches. */
export const matchesEtag = (ifNoneMatch: string, etag: string) =>
  tagsOf(ifNoneMatch).some((tag) => tag === '*' || withoutWeakPrefix(tag) === etag);

/** Returns whether the client has this representation already (RFC 9110, 13.1.2 and 13.1.3). */
function isNotModified(headers: Headers, { etag, modified }: Validators): boolean {
  const ifNoneMatch = joinHeader(headers['if-none-match']);
  if (ifNoneMatch !== undefined) return matchesEtag(ifNoneMatch, etag);
  return toSeconds(modified) <= parseDate(joinHeader(headers['if-modified-since']));
}

/** Returns whether If-Range allows a partial response: it must be the current ETag or date (RFC 9110, 13.1.5). */
function allowsRange(headers: Headers, { etag, modified }: Validators): boolean {
  const ifRange = joinHeader(headers['if-range']);
  if (ifRange === undefined) return true;
  return ifRange.includes('"') ? ifRange.trim() === etag : parseDate(ifRange) === toSeconds(modified);
}

/** Rewrites suffix ranges that are longer than the file: they select the entire file (RFC 9110, 14.1.2). */
const clampSuffixRanges = (range: string, size: number) =>
  range.replace(/([=,]\s*)-(\d+)/g, (match, prefix: string, length: string) => (size > 0 && Number(length) > size ? `${prefix}0-` : match));

/** Returns whether a range ends before it begins: such a Range is invalid (RFC 9110, 14.1.1). */
function hasReversedRange(range: string): boolean {
  return range
    .slice('bytes='.length)
    .split(',')
    .some((part) => {
      const [, first = 0, last = first] = /^\s*(\d+)-(\d+)\s*$/.exec(part) ?? [];
      return Number(first) > Number(last);
    });
}

/** Returns how to answer a request. An invalid Range is ignored. If all ranges are outside the file, the status is 416 (RFC 9110, 14.2). */
export function evaluateConditions(method: string, headers: Headers, validators: Validators): ConditionalResult {
  if (failsPrecondition(headers, validators)) return { status: 412 };
  if (isNotModified(headers, validators)) return { status: 304 };
  const range = joinHeader(headers['range']);
  if (method !== 'GET' || range === undefined || !/^bytes=/i.test(range) || !allowsRange(headers, validators)) return { status: 200 };
  if (range.split(',', maxRanges + 1).length > maxRanges) return { status: 200 }; // not parsed: thousands of ranges take milliseconds
  if (hasReversedRange(range)) return { status: 200 };
  const ranges = parseRange(validators.size, clampSuffixRanges(range, validators.size), { combine: true });
  if (ranges === -1) return { status: 416 };
  return ranges === -2 ? { status: 200 } : { status: 206, ranges };
}
