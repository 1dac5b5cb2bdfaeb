import { Refusal } from '#core/messages.ts';
import { turnsByKey } from '#features/turns/turns.ts';

const atOnce = 2; // reads of one location; a disk that hangs holds up no other
const mostWaiting = { inner: 16, all: 64 };
const retryAfter = 2; // seconds
const longest = 20_000; // ms

/** Who reads which location. */
interface Reading {
  readonly tid: number;
  readonly location: string;
  readonly caller: string;
}

/** Runs what reads locations in turns, by location, then by caller. */
export interface LocationTurns {
  /** @throws 503 where too many wait, or the location does not answer in time; the reason of `left` where the client left */
  run<T>(reading: Reading, left: AbortSignal, work: () => Promise<T>): Promise<T>;
}

/** Answers for a disk that does not. */
async function inTime<T>(work: () => Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Refusal('storageAway')), longest);
  try {
    return await Promise.race([work(), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

export function locationTurns(): LocationTurns {
  const atLocation = turnsByKey({ atOnce, mostWaiting, refusal: () => new Refusal('listingBusy', undefined, { retryAfter }) });
  return {
    run: ({ tid, location, caller }, left, work) =>
      atLocation(`${tid} ${location}`, (turns) => turns.run([caller, caller], left, () => inTime(work))),
  };
}
