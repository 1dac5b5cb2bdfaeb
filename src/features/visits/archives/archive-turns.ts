import { Refusal } from '#core/messages.ts';
import { turns, turnsByKey } from '#features/turns/turns.ts';
import { crowdsOf, type TurnVisitor, turnGroupsOf } from '#features/turns/visitor-turns.ts';
import { waitingLimit } from '#features/turns/waiting-limit.ts';

const [atOneLocation, atAll] = [2, 64]; // slices at once: 31 slow locations leave places for others
const retryAfter = 5; // seconds

/** Who asks for an archive of files that lie at a location. */
export type ArchiveVisitor = TurnVisitor & { readonly locationId: number };

/** Reads for archives a slice at a time, in turns. */
export interface ArchiveTurns {
  /** @throws 503 where too many wait; the reason of `left` */
  run<T>(asker: ArchiveVisitor, left: AbortSignal, readSlice: () => Promise<T>): Promise<T>;
}

/**
 * Each location has places of its own, so that a slow disk delays the archives of its files alone. How many wait is
 * bounded for all locations together: a client that knows links to several may not wait at each.
 */
export function archiveTurns(mostWaiting: { readonly inner: number; readonly all: number }): ArchiveTurns {
  const refusal = () => new Refusal('listingBusy', undefined, { retryAfter });
  const atLocation = turnsByKey({ atOnce: atOneLocation, mostWaiting, refusal }, waitingLimit(mostWaiting, refusal));
  const locations = turns({ atOnce: atAll, mostWaiting: { inner: atOneLocation, all: Number.POSITIVE_INFINITY }, refusal });
  return {
    run: (asker, left, readSlice) => {
      const location = `${asker.locationId}`;
      const inTurn = () => locations.run([location, location], left, readSlice);
      return atLocation(location, (own) => own.run(turnGroupsOf(asker), left, inTurn, crowdsOf(asker)));
    },
  };
}
