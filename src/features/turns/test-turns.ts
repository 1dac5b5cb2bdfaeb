import { Refusal } from '#core/messages.ts';
import type { ClientTurns } from './search-turns.ts';
import { turns } from './turns.ts';

const concurrency = { all: 16, tenant: 2 };
const maxWaiting = { inner: 8, all: 64 };
const retryAfter = 10; // seconds

/** Returns the turns of tests: the mail server, provider or directory that is tested may hang. */
export function testTurns(): ClientTurns {
  const tests = turns({
    concurrency: concurrency.all,
    concurrencyOfGroup: { level: 0, max: concurrency.tenant },
    maxWaiting,
    refusal: () => new Refusal('testsBusy', undefined, { retryAfter }),
  });
  return { run: ({ tid, groups }, clientGone, test) => tests.run([`tenant ${tid}`, ...groups], clientGone, test) };
}
