import { Refusal } from '#core/messages.ts';
import { type Turns, turns } from '#features/turns/turns.ts';
import { largeGroupsOf, type TurnVisitor, turnGroupsOf } from '#features/turns/visitor-turns.ts';

const concurrency = 4; // documents that are read and drawn at once, each of them up to `maxDocumentBytes`
const concurrencyOfLink = { level: 0, max: 2 };
const maxWaiting = { inner: 64, all: 512 };
const retryAfter = 2; // seconds

/** Runs work on a document for a visitor. Links take turns, then wide networks and networks. @throws Refusal (503) if too many wait */
export type DocumentTurns = <T>(visitor: TurnVisitor, clientGone: AbortSignal, work: () => Promise<T>) => Promise<T>;

export function documentTurns(): DocumentTurns {
  const inTurn: Turns = turns({
    ...{ concurrency, concurrencyOfGroup: concurrencyOfLink, maxWaiting },
    refusal: () => new Refusal('documentsBusy', undefined, { retryAfter }),
  });
  return (visitor, clientGone, work) => inTurn.run(turnGroupsOf(visitor), clientGone, work, largeGroupsOf(visitor));
}
