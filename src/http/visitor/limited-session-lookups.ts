import { networksOf } from '#core/client-networks.ts';
import type { Refusal } from '#core/messages.ts';
import { turns } from '#features/turns/turns.ts';
import type { TurnVisitor } from '#features/turns/visitor-turns.ts';

const concurrency = 2; // of the ten connections for queries
const maxWaiting = { inner: 4, all: 64 };

/**
 * Looks up the sessions of visitors whose network has exceeded the limit on unknown links. Runs only a few queries at a time, in
 * turns, because anybody can cause them.
 */
export interface LimitedSessionLookups {
  /** Looks up a session in its turn. @throws the refusal if too many of these queries wait */
  run<T>(visitor: TurnVisitor, lookup: () => Promise<T>, refusal: Refusal): Promise<T>;
}

class TooManyLookups extends Error {}

export function limitedSessionLookups(): LimitedSessionLookups {
  const lookups = turns({ concurrency, maxWaiting, refusal: () => new TooManyLookups() });
  return {
    async run(visitor, lookup, refusal) {
      try {
        // Networks take turns, but links do not: an attacker can invent any number of links.
        return await lookups.run(networksOf(visitor.address), null, lookup);
      } catch (cause) {
        throw cause instanceof TooManyLookups ? refusal : cause;
      }
    },
  };
}
