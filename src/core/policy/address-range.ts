import ipaddr from 'ipaddr.js';

/** Addresses from first to last, both inclusive, as big-endian hexadecimal digits of one width a family. */
export interface AddressRange {
  readonly family: 4 | 6;
  readonly first: string;
  readonly last: string;
}

const hex = (bytes: readonly number[]) => bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');

const plainV4 = /^(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})$/;

/** @returns null where the text is no address; `::ffff:a.b.c.d` counts as `a.b.c.d` (decisions.md, Fields). */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  // ipaddr.js also reads octal and short forms, which other programs read otherwise: only four plain decimals here.
  const isV4 = plainV4.test(text);
  const dotted = text.includes('.') ? text.slice(text.lastIndexOf(':') + 1) : null;
  if (!isV4 && (!text.includes(':') || text.includes('%') || (dotted !== null && !plainV4.test(dotted)))) return null;
  try {
    if (isV4) return ipaddr.IPv4.parse(text);
    const parsed = ipaddr.IPv6.parse(text);
    return parsed.isIPv4MappedAddress() ? parsed.toIPv4Address() : parsed;
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

/**
 * Reads a list of addresses, CIDR blocks and `first-last` ranges, separated by commas or white space.
 * @returns the ranges, or the first entry that is none of these.
 */
export function parseRanges(text: string): readonly AddressRange[] | { readonly wrong: string } {
  const ranges: AddressRange[] = [];
  for (const entry of text.split(/[\s,]+/).filter(Boolean)) {
    const range = parseRange(entry);
    if (!range) return { wrong: entry };
    ranges.push(range);
  }
  return ranges;
}

/** Is the address within one of the ranges? No range means from anywhere; what is no address is within none. */
export function inRanges(ranges: readonly AddressRange[], address: string): boolean {
  if (ranges.length === 0) return true;
  const parsed = parseAddress(address);
  if (!parsed) return false;
  const [digits, kind] = [hex(parsed.toByteArray()), family(parsed)];
  return ranges.some((range) => range.family === kind && range.first <= digits && digits <= range.last);
}

/** The network that an address stands for when failures are counted: `bits4` of an IPv4 address, `bits6` of an IPv6 one. */
export function networkOf(address: string, bits4: number, bits6: number): string {
  const parsed = parseAddress(address);
  if (!parsed) return 'unknown';
  const bits = parsed.kind() === 'ipv4' ? bits4 : bits6;
  const range = block(parsed.toString(), String(bits));
  return range ? `${range.first}/${bits}` : 'unknown';
}
