import { waitAtMost } from '#core/time-limit.ts';

const maxLocationTime = 5000; // ms: work at a location that hangs continues in the background
const maxTotalTime = 20_000; // ms for all: a start must not wait for hundreds of locations that hang
const maxConcurrent = 16;

/**
 * Runs work at all locations, a few at a time. Stops waiting for a location after five seconds, and for all of them after twenty; the work
 * continues.
 * @param onLate called for a location that takes longer
 * @throws what `work` throws in that time
 */
export async function forEachLocation<T>(
  locations: readonly T[],
  work: (location: T) => Promise<void>,
  onLate: (location: T) => void = () => {},
): Promise<void> {
  const queue = locations[Symbol.iterator]();
  const runNext = async () => {
    for (const location of queue) if ((await waitAtMost(work(location), maxLocationTime)).late) onLate(location);
  };
  await waitAtMost(Promise.all(Array.from({ length: maxConcurrent }, runNext)), maxTotalTime);
}
