import { networksOf } from '#core/client-networks.ts';
import { Refusal } from '#core/messages.ts';
import { runWithPause, turns } from './turns.ts';

const concurrency = 4;
const pause = 30; // ms
const maxWaiting = { inner: 200, all: 1000 };
const retryAfter = 2; // seconds

/** Runs requests for sign-in codes in turns by network: anybody can send thousands of them. */
export interface CodeTurns {
  /** @throws Refusal (503) if too many requests wait */
  run<T>(address: string, request: () => Promise<T>): Promise<T>;
}

/** Returns the turns of a process. With their pauses, it plans some 120 codes a second. */
export function codeTurns(): CodeTurns {
  const ofNetworks = turns({ concurrency, maxWaiting, refusal: () => new Refusal('signInBusy', undefined, { retryAfter }) });
  return { run: (address, request) => runWithPause(ofNetworks, networksOf(address), request, pause) };
}
