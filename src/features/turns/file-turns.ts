import { Refusal } from '#core/messages.ts';
import type { ClientTurns } from './search-turns.ts';
import { tenantTurns } from './tenant-turns.ts';

const concurrency = { all: 2, tenant: 1 };
const maxWaiting = { inner: 2, all: 8 }; // requests; the file of each waiting request is in memory
const retryAfter = 10; // seconds

/** Returns the turns of operations that examine a file in their body. */
export const fileTurns = (): ClientTurns =>
  tenantTurns({ concurrency, maxWaiting, refusal: () => new Refusal('documentsBusy', undefined, { retryAfter }) });
