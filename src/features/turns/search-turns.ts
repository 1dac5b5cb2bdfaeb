import { Refusal } from '#core/messages.ts';
import { turns, turnsByKey } from './turns.ts';

const concurrentSearches = 4;
const maxWaiting = { inner: 64, all: 2000 };
const retryAfter = 2; // seconds

/** The client of a search. Tenants take turns, and clients take turns within their tenant. */
export interface SearchClient {
  readonly tid: number;
  readonly client: string;
}

/** Runs searches in turns, so that the searches of one client do not delay those of others. */
export interface SearchTurns {
  /** @throws 503 if too many searches wait; the reason of `clientGone` if the client disconnects before its turn */
  run<T>(searchClient: SearchClient, clientGone: AbortSignal, search: () => Promise<T>): Promise<T>;
}

function limitSearches(concurrency: number, concurrencyOfTenant: number): SearchTurns {
  const refusal = () => new Refusal('searchBusy', undefined, { retryAfter });
  const tenants = turns({ concurrency, maxWaiting, refusal });
  const clients = turnsByKey({ concurrency: concurrencyOfTenant, maxWaiting, refusal });
  return {
    run: ({ tid, client }, clientGone, search) => {
      const tenant = `${tid}`;
      return clients(tenant, (tenantTurns) =>
        tenantTurns.run([client, client], clientGone, () => tenants.run([tenant, tenant], clientGone, search)),
      );
    },
  };
}

/**
 * Returns the turns of searches.
 * @param concurrencyOfTenant how many searches of one tenant run at the same time. Each may take seconds, so a tenant must
 * leave a thread or connection free for the others.
 */
export const searchTurns = (concurrencyOfTenant: number): SearchTurns => limitSearches(concurrentSearches, concurrencyOfTenant);

/** Returns the turns of reports. A report reads a complete history for seconds, and must not use up the turns of searches. */
export const reportTurns = (): SearchTurns => limitSearches(1, 1);
