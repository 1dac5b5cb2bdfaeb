import { Refusal } from '#core/messages.ts';
import type { TurnClient } from './search-turns.ts';
import { runWithRest, turns } from './turns.ts';

const maxWaiting = { inner: 16, all: 500 };
const retryAfter = 2; // seconds
const refusal = () => new Refusal('searchBusy', undefined, { retryAfter });

/** Writes long texts, such as a response of megabytes, in turns. */
export interface TextTurns {
  /**
   * Calls `write` in the turn of a client. A pause follows, which leaves time for other requests.
   * @throws Refusal (503) if too many texts wait; the reason of `clientGone` if the client disconnects before its turn
   */
  run<T>(client: TurnClient, clientGone: AbortSignal, write: () => T): Promise<T>;
}

/** Returns the turns of long texts: one is written at a time, because it blocks the event loop. Tenants take turns. */
export function textTurns(): TextTurns {
  const texts = turns({ concurrency: 1, maxWaiting, refusal });
  return { run: ({ tid, groups }, clientGone, write) => runWithRest(texts, [`tenant ${tid}`, ...groups], clientGone, write) };
}
