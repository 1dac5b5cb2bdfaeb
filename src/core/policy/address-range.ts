import ipaddr from 'ipaddr.js';

/** Addresses from first to last, both inclusive, as big-endian hexadecimal digits of one width a family. */
export interface AddressRange {
  readonly family: 4 | 6;
  readonly first: string;
  readonly last: string;
}

const hexOf = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const hex = (bytes: readonly number[]) => bytes.reduce((digits, byte) => digits + hexOf[byte], '');

const plainV4 = /^(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})$/;

/** ::ffff:0:0/96. The library's own question costs as much as reading the address. */
const isMapped = ({ parts }: ipaddr.IPv6) => parts[5] === 0xffff && parts.every((part, index) => index >= 5 || part === 0);

/** @returns null where the text is no address; `::ffff:a.b.c.d` counts as `a.b.c.d` (decisions.md, Fields). */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  // ipaddr.js also reads octal and short forms, which other programs read otherwise: only four plain decimals here.
  const isV4 = plainV4.test(text);
  const dotted = text.includes('.') ? text.slice(text.lastIndexOf(':') + 1) : null;
  if (!isV4 && (!text.includes(':') || text.includes('%') || (dotted !== null && !plainV4.test(dotted)))) return null;
  try {
    if (isV4) return ipaddr.IPv4.parse(text);
    const parsed = ipaddr.IPv6.parse(text);
    return isMapped(parsed) ? parsed.toIPv4Address() : parsed;
  } catch {
    return null;
  }
}

const family = (address: ipaddr.IPv4 | ipaddr.IPv6) => (address.kind() === 'ipv4' ? 4 : 6);

function block(address: string, prefix: string): AddressRange | null {
  const parsed = parseAddress(address);
  if (!parsed || !/^(0|[1-9]\d{0,2})$/.test(prefix)) return null;
  const mapped = parsed.kind() === 'ipv4' && address.includes(':');
  const bits = Number(prefix) - (mapped ? 96 : 0);
  const bytes = parsed.toByteArray();
  if (bits < 0 || bits > bytes.length * 8) return null;
  const kept = (index: number) => Math.min(8, Math.max(0, bits - index * 8));
  const first = bytes.map((byte, index) => byte & (0xff << (8 - kept(index))) & 0xff);
  const last = first.map((byte, index) => byte | (0xff >> kept(index)));
  return { family: family(parsed), first: hex(first), last: hex(last) };
}

function single(text: string): AddressRange | null {
  const parsed = parseAddress(text);
  if (!parsed) return null;
  const digits = hex(parsed.toByteArray());
  return { family: family(parsed), first: digits, last: digits };
}

function span(from: string, to: string): AddressRange | null {
  const [first, last] = [parseAddress(from), parseAddress(to)];
  if (!first || !last || first.kind() !== last.kind()) return null;
  const range: AddressRange = { family: family(first), first: hex(first.toByteArray()), last: hex(last.toByteArray()) };
  return range.first <= range.last ? range : null;
}

function parseRange(text: string): AddressRange | null {
  const slash = text.indexOf('/');
  if (slash >= 0) return block(text.slice(0, slash), text.slice(slash + 1));
  const dash = text.indexOf('-');
  return dash >= 0 ? span(text.slice(0, dash), text.slice(dash + 1)) : single(text);
}

/** Entries of a list of ranges, read or not. */
const entriesOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** How many entries a list of ranges has, whatever they are. */
export const countRanges = (text: string): number => entriesOf(text).length;

/**
 * Reads a list of addresses, CIDR blocks and `first-last` ranges, separated by commas or white space.
 * @returns the ranges, or the first entry that is none of these.
 */
export function parseRanges(text: string): readonly AddressRange[] | { readonly wrong: string } {
  const ranges: AddressRange[] = [];
  for (const entry of entriesOf(text)) {
    const range = parseRange(entry);
    if (!range) return { wrong: entry };
    ranges.push(range);
  }
  return ranges;
}

/**
 * Ranges as text that is searched by halves, so that a list costs nothing to read again: those of IPv4, `|`, those of
 * IPv6, each its first and its last address in hexadecimal digits. Sorted, none overlaps another; empty: no range.
 */
export type PackedRanges = string;

function packFamily(ranges: readonly AddressRange[], of: 4 | 6): string {
  const sorted = ranges.filter(({ family: one }) => one === of).toSorted((a, b) => (a.first < b.first ? -1 : 1));
  const merged: { first: string; last: string }[] = [];
  for (const { first, last } of sorted) {
    const before = merged.at(-1);
    if (!before || first > before.last) merged.push({ first, last });
    else if (last > before.last) before.last = last;
  }
  return merged.map(({ first, last }) => first + last).join('');
}

export const packRanges = (ranges: readonly AddressRange[]): PackedRanges =>
  ranges.length === 0 ? '' : `${packFamily(ranges, 4)}|${packFamily(ranges, 6)}`;

/** Packs a list that was checked when it was stored or set. */
export function packList(text: string): PackedRanges {
  const ranges = parseRanges(text);
  if ('wrong' in ranges) throw new Error(`"${ranges.wrong}" is no range of addresses, though it was checked`);
  return packRanges(ranges);
}

/** Is the address within one of the ranges? No range means from anywhere; what is no address is within none. */
export function inRanges(ranges: PackedRanges, address: string): boolean {
  if (ranges === '') return true;
  const parsed = parseAddress(address);
  if (!parsed) return false;
  const digits = hex(parsed.toByteArray());
  const [width, middle] = [digits.length, ranges.indexOf('|')];
  const [begin, end] = family(parsed) === 4 ? [0, middle] : [middle + 1, ranges.length];
  const at = (index: number) => begin + index * 2 * width;
  const firstOf = (index: number) => ranges.slice(at(index), at(index) + width);
  let [low, high] = [0, (end - begin) / (2 * width)]; // ranges that begin at or before the address
  while (low < high) {
    const half = Math.floor((low + high) / 2);
    if (firstOf(half) <= digits) low = half + 1;
    else high = half;
  }
  return low > 0 && digits <= ranges.slice(at(low - 1) + width, at(low));
}

/** The network that an address stands for when failures are counted: `bits4` of an IPv4 address, `bits6` of an IPv6 one. */
export function networkOf(address: string, bits4: number, bits6: number): string {
  const parsed = parseAddress(address);
  if (!parsed) return 'unknown';
  const bits = parsed.kind() === 'ipv4' ? bits4 : bits6;
  const range = block(parsed.toString(), String(bits));
  return range ? `${range.first}/${bits}` : 'unknown';
}
