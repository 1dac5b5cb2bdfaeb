import { Refusal } from '#core/messages.ts';
import { type Turns, turnsByKey } from '#features/turns/turns.ts';
import { largeGroupsOf, type TurnVisitor, turnGroupsOf } from '#features/turns/visitor-turns.ts';
import { respondInTime } from './respond-in-time.ts';

const maxPerLocation = 4; // concurrent changes: more would wait for the same storage
/** The limit for one wide network, so that others need not wait for a client that sends hundreds of changes. */
const concurrencyOfGroup = { level: 1, max: 2 };
const maxWaiting = { inner: 256, all: 2048 };
const retryAfter = 5; // seconds

type LocationVisitor = TurnVisitor & { readonly locationId: number };

/**
 * Runs new folders, renames and deletions in turns. At each location, links take turns, and within a link, networks do, so that one client
 * cannot block the changes of others.
 */
export interface ChangesInTurn {
  /**
   * Runs a change in its turn. A change keeps its turn until the storage has responded, even if the client gets a refusal before.
   * @throws Refusal (503) if too many changes wait, if the turn does not come in time, or if the storage does not respond in time; the
   *   reason of `clientGone` if the client leaves before the turn of the change; what `change` throws
   */
  run<T>(visitor: LocationVisitor, clientGone: AbortSignal, change: () => Promise<T>): Promise<T>;
}

const busyRefusal = () => new Refusal('changesBusy', undefined, { retryAfter });

/** @param timeLimit the most ms until the turn of a change, and again from then until its response */
export function changesInTurn(timeLimit: number): ChangesInTurn {
  const withLocationTurns = turnsByKey({ concurrency: maxPerLocation, concurrencyOfGroup, maxWaiting, refusal: busyRefusal });
  return {
    run<T>(visitor: LocationVisitor, clientGone: AbortSignal, change: () => Promise<T>) {
      const response = Promise.withResolvers<T>();
      const tooLate = new AbortController();
      const timer = setTimeout(() => tooLate.abort(busyRefusal()), timeLimit);
      async function changeInTurn(): Promise<void> {
        clearTimeout(timer);
        const running = change();
        respondInTime(running, timeLimit).then(response.resolve, response.reject);
        await running.catch(() => {}); // its error is the response
      }
      const signal = AbortSignal.any([clientGone, tooLate.signal]);
      const runInTurn = ({ run }: Turns) => run(turnGroupsOf(visitor), signal, changeInTurn, largeGroupsOf(visitor));
      withLocationTurns(`${visitor.locationId}`, runInTurn)
        .catch(response.reject)
        .finally(() => clearTimeout(timer));
      return response.promise;
    },
  };
}
