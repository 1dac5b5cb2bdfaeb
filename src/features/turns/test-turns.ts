import { Refusal } from '#core/messages.ts';
import type { ClientTurns } from './search-turns.ts';
import { tenantTurns } from './tenant-turns.ts';

const concurrency = { all: 16, tenant: 2 };
const maxWaiting = { inner: 8, all: 64 };
const retryAfter = 10; // seconds

/** Returns the turns of tests: the server or service that is tested, such as a mail server or a storage, may hang. */
export const testTurns = (): ClientTurns =>
  tenantTurns({ concurrency, maxWaiting, refusal: () => new Refusal('testsBusy', undefined, { retryAfter }) });
