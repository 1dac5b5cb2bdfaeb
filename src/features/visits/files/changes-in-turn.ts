import { Refusal } from '#core/messages.ts';
import { turnsByKey } from '#features/turns/turns.ts';
import { largeGroupsOf, type TurnVisitor, turnGroupsOf } from '#features/turns/visitor-turns.ts';

const maxPerLocation = 4; // changes at once: more would wait for the same storage
/** Of one wide network: others need not wait for a client that sends hundreds of changes. */
const concurrencyOfGroup = { level: 1, max: 2 };
const maxWaiting = { inner: 256, all: 2048 };
const retryAfter = 5; // seconds

/**
 * Runs new folders, renames and deletions in turns, by location, then by link, then by network, so that one client cannot
 * block the changes of others.
 */
export interface ChangesInTurn {
  /**
   * Runs a change in its turn.
   * @throws Refusal (503) if too many changes wait; the reason of `clientGone` if the client leaves before the turn of the change
   */
  run<T>(visitor: TurnVisitor & { readonly locationId: number }, clientGone: AbortSignal, change: () => Promise<T>): Promise<T>;
}

export function changesInTurn(): ChangesInTurn {
  const withLocationTurns = turnsByKey({
    concurrency: maxPerLocation,
    concurrencyOfGroup,
    maxWaiting,
    refusal: () => new Refusal('changesBusy', undefined, { retryAfter }),
  });
  return {
    run: (visitor, clientGone, change) =>
      withLocationTurns(`${visitor.locationId}`, (turns) => turns.run(turnGroupsOf(visitor), clientGone, change, largeGroupsOf(visitor))),
  };
}
