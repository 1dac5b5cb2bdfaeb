import { Refusal } from '#core/messages.ts';
import { networkOf } from '#core/policy/address-range.ts';
import type { Clock } from '#ports/clock.ts';

const free = 60; // a minute from one network (visit.md, Sessions)
const minute = 60_000; // ms

/** Counts unknown links by network, minute by minute: who tries addresses is soon not looked at any more. */
export interface UnknownLinks {
  note(address: string): void;
  /** @returns the refusal for a network that has tried too many, or null */
  refusal(address: string): Refusal | null;
}

export function countUnknownLinks(clock: Clock, counted: () => void): UnknownLinks {
  const counts = new Map<string, number>();
  let current = 0;
  const forget = (now: number) => {
    const began = now - (now % minute);
    if (began !== current) counts.clear();
    current = began;
  };
  return {
    note(address) {
      forget(clock.now());
      counted();
      const network = networkOf(address, 32, 64);
      counts.set(network, (counts.get(network) ?? 0) + 1);
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
  };
}
