import ipaddr from 'ipaddr.js';

/** A range of addresses. `first` and `last` are inclusive, big-endian hexadecimal numbers: 8 digits for IPv4, 32 for IPv6. */
export interface AddressRange {
  readonly family: 4 | 6;
  readonly first: string;
  readonly last: string;
}

const hexBytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const toHex = (bytes: readonly number[]) => bytes.reduce((digits, byte) => digits + hexBytes[byte], '');

const plainV4 = /^(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})$/;

/** Returns whether an address is in ::ffff:0:0/96. The check of the library takes as long as parsing the address. */
const isMapped = ({ parts }: ipaddr.IPv6) => parts[5] === 0xffff && parts.every((part, index) => index >= 5 || part === 0);

/** Parses an address; `::ffff:a.b.c.d` becomes `a.b.c.d`. @returns null if the text is not an address */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  // ipaddr.js also accepts octal and short forms, which other programs interpret differently: accept only four decimal numbers.
  const isV4 = plainV4.test(text);
  const dotted = text.includes('.') ? text.slice(text.lastIndexOf(':') + 1) : null;
  if (!isV4 && (!text.includes(':') || text.includes('%') || (dotted !== null && !plainV4.test(dotted)))) return null;
  try {
    if (isV4) return ipaddr.IPv4.parse(text);
    const ipv6 = ipaddr.IPv6.parse(text);
    return isMapped(ipv6) ? ipv6.toIPv4Address() : ipv6;
  } catch {
    return null;
  }
}

const familyOf = (ip: ipaddr.IPv4 | ipaddr.IPv6) => (ip.kind() === 'ipv4' ? 4 : 6);

/** Returns the block that contains an address. @param bits length of the prefix, at most 32 for IPv4 and 128 for IPv6 */
export function blockOf(ip: ipaddr.IPv4 | ipaddr.IPv6, bits: number): AddressRange {
  const bytes = ip.toByteArray();
  const prefixBitsOf = (index: number) => Math.min(8, Math.max(0, bits - index * 8));
  const first = bytes.map((byte, index) => byte & (0xff << (8 - prefixBitsOf(index))) & 0xff);
  const last = first.map((byte, index) => byte | (0xff >> prefixBitsOf(index)));
  return { family: familyOf(ip), first: toHex(first), last: toHex(last) };
}

/** @param prefix length of the prefix in bits, as text */
function parseBlock(address: string, prefix: string): AddressRange | null {
  const ip = parseAddress(address);
  if (!ip || !/^(0|[1-9]\d{0,2})$/.test(prefix)) return null;
  const isMappedAddress = ip.kind() === 'ipv4' && address.includes(':');
  const bits = Number(prefix) - (isMappedAddress ? 96 : 0);
  return bits < 0 || bits > (ip.kind() === 'ipv4' ? 32 : 128) ? null : blockOf(ip, bits);
}

function parseSingleAddress(text: string): AddressRange | null {
  const ip = parseAddress(text);
  if (!ip) return null;
  const digits = toHex(ip.toByteArray());
  return { family: familyOf(ip), first: digits, last: digits };
}

function parseFirstToLast(from: string, to: string): AddressRange | null {
  const [first, last] = [parseAddress(from), parseAddress(to)];
  if (!first || !last || first.kind() !== last.kind()) return null;
  const range: AddressRange = {
    family: familyOf(first),
    first: toHex(first.toByteArray()),
    last: toHex(last.toByteArray()),
  };
  return range.first <= range.last ? range : null;
}

function parseRange(text: string): AddressRange | null {
  const slash = text.indexOf('/');
  if (slash >= 0) return parseBlock(text.slice(0, slash), text.slice(slash + 1));
  const dash = text.indexOf('-');
  return dash >= 0 ? parseFirstToLast(text.slice(0, dash), text.slice(dash + 1)) : parseSingleAddress(text);
}

/** Splits a list of ranges into its entries, valid or not. */
const splitEntries = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** Returns the number of entries in a list of ranges. Counts invalid entries too. */
export const countRanges = (text: string): number => splitEntries(text).length;

/**
 * Parses a list of addresses, CIDR blocks and `first-last` ranges, separated by commas or white space.
 * @returns the ranges, or the first entry that is not valid
 */
export function parseRanges(text: string): readonly AddressRange[] | { readonly invalidEntry: string } {
  const ranges: AddressRange[] = [];
  for (const entry of splitEntries(text)) {
    const range = parseRange(entry);
    if (!range) return { invalidEntry: entry };
    ranges.push(range);
  }
  return ranges;
}

/**
 * Ranges as a text for binary search, so that no request has to parse the list again. The text holds the IPv4 ranges, `|` and the
 * IPv6 ranges. Each range is its first and its last address in hexadecimal digits. The ranges of a family are sorted and do
 * not overlap. Empty: no range.
 */
export type PackedRanges = string;

function packFamily(ranges: readonly AddressRange[], family: 4 | 6): string {
  const sorted = ranges.filter((range) => range.family === family).toSorted((a, b) => (a.first < b.first ? -1 : 1));
  const merged: { first: string; last: string }[] = [];
  for (const { first, last } of sorted) {
    const previous = merged.at(-1);
    if (!previous || first > previous.last) merged.push({ first, last });
    else if (last > previous.last) previous.last = last;
  }
  return merged.map(({ first, last }) => first + last).join('');
}

/** Returns the packed form of ranges, in which overlapping ranges are merged. */
export const packRanges = (ranges: readonly AddressRange[]): PackedRanges =>
  ranges.length === 0 ? '' : `${packFamily(ranges, 4)}|${packFamily(ranges, 6)}`;

/** Returns the packed form of a list that was checked before it was stored or configured. @throws Error if an entry is not valid */
export function packRangeText(text: string): PackedRanges {
  const ranges = parseRanges(text);
  if ('invalidEntry' in ranges) throw new Error(`"${ranges.invalidEntry}" is not an address range, although the list was validated`);
  return packRanges(ranges);
}

/**
 * Returns whether an address is within one of the ranges. Without ranges, every address is allowed. With ranges, a text that is
 * not an address is outside.
 */
export function inRanges(ranges: PackedRanges, address: string): boolean {
  if (ranges === '') return true;
  const ip = parseAddress(address);
  if (!ip) return false;
  const digits = toHex(ip.toByteArray());
  const [width, middle] = [digits.length, ranges.indexOf('|')];
  const [begin, end] = familyOf(ip) === 4 ? [0, middle] : [middle + 1, ranges.length];
  const offsetOf = (index: number) => begin + index * 2 * width;
  const firstOf = (index: number) => ranges.slice(offsetOf(index), offsetOf(index) + width);
  let [low, high] = [0, (end - begin) / (2 * width)]; // `low` becomes the number of ranges that begin at or before the address
  while (low < high) {
    const half = Math.floor((low + high) / 2);
    if (firstOf(half) <= digits) low = half + 1;
    else high = half;
  }
  return low > 0 && digits <= ranges.slice(offsetOf(low - 1) + width, offsetOf(low));
}
