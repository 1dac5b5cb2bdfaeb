import { Refusal } from '#core/messages.ts';
import { networkOf } from '#core/policy/address-range.ts';
import { windowCounts } from '#core/window-counts.ts';
import type { Clock } from '#ports/clock.ts';

const free = 60; // a minute from one network (visit.md, Sessions)
const verifiedBeyond = 5; // pairs a minute from a network that is refused
const minute = 60_000; // ms
const mostExchanged = 500; // of one exchange: a client with many networks fills neither a statement nor the table

/** Counts unknown links by network, minute by minute: who tries addresses is soon not looked at any more. */
export interface UnknownLinks {
  note(address: string): void;
  /** @returns the refusal for a network that has tried too many, or null */
  refusal(address: string): Refusal | null;
  /**
   * May a pair of name and password be verified for a network that is refused? Counts it, whether or not the link exists:
   * verifying takes long, and so tells which links do.
   */
  mayVerify(address: string): boolean;
  /** Adds what other processes have counted, and lets them have what was counted here. */
  exchange(counts: Exchange): Promise<void>;
}

/** @param since beginning of the minute. @param tried networks, one for each unknown link not yet told of. @returns all counts */
type Exchange = (since: number, tried: readonly string[]) => Promise<ReadonlyMap<string, number>>;

export function countUnknownLinks(clock: Clock, counted: () => void): UnknownLinks {
  const counts = new Map<string, number>();
  const verified = windowCounts(minute, clock.now);
  let current = 0;
  let unexchanged: string[] = [];
  const forget = (now: number) => {
    const began = now - (now % minute);
    if (began === current) return;
    counts.clear();
    unexchanged = [];
    current = began;
  };
  return {
    note(address) {
      forget(clock.now());
      counted();
      const network = networkOf(address, 32, 64);
      const count = (counts.get(network) ?? 0) + 1;
      counts.set(network, count);
      if (count <= free && unexchanged.length < mostExchanged) unexchanged.push(network);
    },
    refusal(address) {
      const now = clock.now();
      forget(now);
      if (counts.size === 0) return null;
      if ((counts.get(networkOf(address, 32, 64)) ?? 0) < free) return null;
      return new Refusal('tooManyFailures', 'Too many unknown links from your network; wait until the minute ends.', {
        retryAfter: Math.ceil((current + minute - now) / 1000),
      });
    },
    mayVerify: (address) => verified.add(networkOf(address, 32, 64)) <= verifiedBeyond,
    async exchange(exchanged) {
      forget(clock.now());
      const since = current;
      const told = unexchanged;
      unexchanged = [];
      const all = await exchanged(since, told);
      if (since !== current) return;
      for (const [network, count] of all) counts.set(network, Math.max(count, counts.get(network) ?? 0));
    },
  };
}
