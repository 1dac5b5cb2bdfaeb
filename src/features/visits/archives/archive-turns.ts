import { Refusal } from '#core/messages.ts';
import { turns, turnsByKey } from '#features/turns/turns.ts';
import { largeGroupsOf, type TurnVisitor, turnGroupsOf } from '#features/turns/visitor-turns.ts';
import { waitingLimit } from '#features/turns/waiting-limit.ts';

/** Numbers of slices that may be read at the same time. The slow locations of one tenant cannot use up the total. */
const [maxPerLocation, maxPerTenant, maxConcurrent] = [4, 32, 64];
const concurrencyOfGroup = { level: 1, max: 1 }; // of a wide network at a location: it must not take all places there
const retryAfter = 5; // seconds

/** A visitor who requests an archive, and the tenant and the location of its files. */
export type ArchiveVisitor = TurnVisitor & { readonly tid: number; readonly locationId: number };

/** Reads files for archives in slices; the visitors take turns. */
export interface ArchiveTurns {
  /** Reads a slice of an archive in its turn. @throws Refusal (503) if too many requests wait; the reason of `clientGone` */
  run<T>(visitor: ArchiveVisitor, clientGone: AbortSignal, readSlice: () => Promise<T>): Promise<T>;
}

/**
 * Creates turns in which each location has its own places, so that a slow disk delays only the archives of its files. The
 * number of waiting requests is limited for all locations together: otherwise a client with links to several locations
 * could fill the queue of each.
 */
export function archiveTurns(maxWaiting: { readonly inner: number; readonly all: number }): ArchiveTurns {
  const refusal = () => new Refusal('listingBusy', undefined, { retryAfter });
  const withLocationTurns = turnsByKey(
    { concurrency: maxPerLocation, concurrencyOfGroup, maxWaiting, refusal },
    waitingLimit(maxWaiting, refusal),
  );
  const allTurns = turns({
    concurrency: maxConcurrent,
    concurrencyOfGroup: { level: 0, max: maxPerTenant },
    maxWaiting: { inner: maxPerLocation, all: Number.POSITIVE_INFINITY },
    refusal,
  });
  return {
    run: (visitor, clientGone, readSlice) => {
      const location = `${visitor.locationId}`;
      const readInTurn = () => allTurns.run([`tenant ${visitor.tid}`, location], clientGone, readSlice);
      return withLocationTurns(location, (locationTurns) =>
        locationTurns.run(turnGroupsOf(visitor), clientGone, readInTurn, largeGroupsOf(visitor)),
      );
    },
  };
}
