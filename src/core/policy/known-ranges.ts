import { type AddressRange, parseRanges } from './address-range.ts';

const few = 10; // ranges that cost less to read anew than to remember
const mostKept = 200_000; // ranges of all lists together
const rangeLength = 150; // characters of a list that take as much memory as one of its ranges

/** Reads a list of ranges that was checked when it was stored. */
export type RangesIn = (list: string) => readonly AddressRange[];

/**
 * Remembers the lists that were read last. A list may hold ten thousand ranges, which take 50 ms to read, and every
 * request at a link asks for it.
 */
export function knownRanges(): RangesIn {
  const costOf = (list: string, ranges: readonly AddressRange[]) => ranges.length + Math.ceil(list.length / rangeLength);
  const known = new Map<string, readonly AddressRange[]>();
  let kept = 0;
  function forget(list: string): void {
    const ranges = known.get(list);
    if (ranges && known.delete(list)) kept -= costOf(list, ranges);
  }
  function remember(list: string, ranges: readonly AddressRange[]): void {
    const cost = costOf(list, ranges);
    for (const oldest of known.keys()) {
      if (kept + cost <= mostKept) break;
      forget(oldest);
    }
    known.set(list, ranges);
    kept += cost;
  }
  return (list) => {
    const found = known.get(list);
    const ranges = found ?? parseRanges(list);
    if ('wrong' in ranges) throw new Error('a stored address range is not one');
    if (ranges.length <= few) return ranges;
    if (found) forget(list); // it becomes the newest
    remember(list, ranges);
    return ranges;
  };
}
