import { Refusal } from '#core/messages.ts';
import { turnsByKey } from '#features/turns/turns.ts';

const maxConcurrent = 2; // reads of one location; a disk that hangs delays no other location
const maxWaiting = { inner: 16, all: 64 };
const retryAfter = 2; // seconds
const timeout = 20_000; // ms

interface LocationRead {
  readonly tid: number;
  readonly location: string;
  readonly caller: string;
}

/** Runs reads of locations in turns: the callers of a location take turns, and locations do not wait for each other. */
export interface LocationTurns {
  /**
   * @param clientGone aborts when the client closes its connection
   * @param work gets a signal that aborts when the location did not respond in time
   * @throws Refusal 503 if too many reads wait, or if the location does not respond in time; the reason of `clientGone`
   */
  run<T>(read: LocationRead, clientGone: AbortSignal, work: (timedOut: AbortSignal) => Promise<T>): Promise<T>;
}

/** Rejects if the work does not end in time, for example because the disk hangs. The signal then tells the work to end. */
async function withTimeout<T>(work: (timedOut: AbortSignal) => Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timedOut = new AbortController();
  const timer = setTimeout(() => {
    const refusal = new Refusal('storageAway');
    late.reject(refusal);
    timedOut.abort(refusal);
  }, timeout);
  try {
    return await Promise.race([work(timedOut.signal), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

export function locationTurns(): LocationTurns {
  const withTurns = turnsByKey({
    concurrency: maxConcurrent,
    maxWaiting,
    refusal: () => new Refusal('listingBusy', undefined, { retryAfter }),
  });
  return {
    run: ({ tid, location, caller }, clientGone, work) =>
      withTurns(`${tid} ${location}`, (turns) => turns.run([caller, caller], clientGone, () => withTimeout(work))),
  };
}
