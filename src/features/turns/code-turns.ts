import { networksOf } from '#core/client-networks.ts';
import { Refusal } from '#core/messages.ts';
import { runWithPause, turns } from './turns.ts';

const concurrency = 8;
const pause = 120; // ms
const maxWaiting = { inner: 200, all: 1000 };
const retryAfter = 2; // seconds

/** Runs requests for sign-in codes in turns by network: anybody can send thousands of them. */
export interface CodeTurns {
  /** Runs a request in its turn. @throws Refusal (503) if too many requests wait */
  run<T>(address: string, request: () => Promise<T>): Promise<T>;
}

/** Returns a function that waits for a pause. Calls during a pause wait for the end of that pause. */
function commonPause(duration: number): () => Promise<void> {
  let current: Promise<void> | null = null;
  return () => {
    current ??= new Promise<void>((resolve) => setTimeout(resolve, duration).unref()).then(() => {
      current = null;
    });
    return current;
  };
}

/**
 * Returns the turns of a process. A pause after each request limits a process to about 66 codes a second, so that a flood leaves time for
 * other requests. The pauses end together, so that the next requests share one commit.
 */
export function codeTurns(): CodeTurns {
  const ofNetworks = turns({ concurrency, maxWaiting, refusal: () => new Refusal('signInBusy', undefined, { retryAfter }) });
  const waitForPause = commonPause(pause);
  return {
    run: (address, request) => runWithPause(ofNetworks, networksOf(address), null, { work: request, pause: waitForPause }),
  };
}
