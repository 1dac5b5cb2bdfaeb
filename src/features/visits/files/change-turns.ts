import { Refusal } from '#core/messages.ts';
import { turnsByKey } from '#features/turns/turns.ts';
import { crowdsOf, type TurnVisitor, turnGroupsOf } from '#features/turns/visitor-turns.ts';

/** Changes at once at one location: each waits for its disk several times. */
const atOnce = 8;
const mostWaiting = { inner: 256, all: 2048 };
const retryAfter = 5; // seconds

/** Runs changes of names in turns, by location, then by link, then by network: one client leaves room for the uploads of others. */
export interface ChangeTurns {
  /** @throws 503 where too many wait */
  run<T>(asker: TurnVisitor & { readonly locationId: number }, work: () => Promise<T>): Promise<T>;
}

export function changeTurns(): ChangeTurns {
  const atLocation = turnsByKey({ atOnce, mostWaiting, refusal: () => new Refusal('changesBusy', undefined, { retryAfter }) });
  return {
    run: (asker, work) =>
      // It is made even if its client leaves: another may wait for the answer under the same Idempotency-Key.
      atLocation(`${asker.locationId}`, (turns) => turns.run(turnGroupsOf(asker), new AbortController().signal, work, crowdsOf(asker))),
  };
}
