import { wideNetworkOf } from '#core/client-networks.ts';
import { costQueue } from '#core/cost-queue.ts';
import { Refusal } from '#core/messages.ts';
import { type TurnGroups, turns, turnsByKey } from './turns.ts';

const concurrentSearches = 4;
const maxWaiting = { inner: 64, all: 2000 };
const retryAfter = 2; // seconds

/** The client whose work takes turns. Tenants take turns, and the groups of clients take turns within their tenant. */
export interface TurnClient {
  readonly tid: number;
  readonly groups: TurnGroups;
}

/** Returns the groups of a key or operator: each takes turns with the others, and with all visitors together. */
export const callerGroups = (callerKey: string): TurnGroups => [callerKey, callerKey];

/** Returns the groups of a visitor: wide networks take turns within the turn of all visitors. */
export const visitorGroups = (address: string): TurnGroups => ['visitors', `visitors ${wideNetworkOf(address)}`];

/** Runs searches, reports or other work in turns, so that the work of one client does not delay that of others. */
export interface ClientTurns {
  /**
   * Runs a piece of work in its turn.
   * @throws Refusal (503) if too many wait; the reason of `clientGone` if the client disconnects before its turn
   */
  run<T>(client: TurnClient, clientGone: AbortSignal, work: () => Promise<T>): Promise<T>;
}

const refusal = () => new Refusal('searchBusy', undefined, { retryAfter });

function limitSearches(concurrency: number, concurrencyOfTenant: number): ClientTurns {
  const tenants = turns({ concurrency, maxWaiting, refusal });
  const clients = turnsByKey({ concurrency: concurrencyOfTenant, maxWaiting, refusal });
  return {
    run: ({ tid, groups }, clientGone, search) => {
      const tenant = `${tid}`;
      return clients(tenant, (tenantTurns) => tenantTurns.run(groups, clientGone, () => tenants.run([tenant, tenant], clientGone, search)));
    },
  };
}

/**
 * Returns the turns of searches.
 * @param concurrencyOfTenant how many searches of one tenant run at the same time. Each may take seconds, so a tenant must
 * leave a thread or connection free for other tenants.
 */
export const searchTurns = (concurrencyOfTenant: number): ClientTurns => limitSearches(concurrentSearches, concurrencyOfTenant);

/** Runs reports. A report reads a complete history for seconds, and must not use up the turns of searches. */
interface ReportTurns {
  /** Runs one query of a report. */
  readonly queries: ClientTurns;
  /** Runs complete reports. Their number is limited, because each keeps in memory what it has read so far. */
  readonly reports: ClientTurns;
}

const concurrentReports = { all: 64, tenant: 1 };

/**
 * Runs queries one after the other. The next one is of the tenant whose queries have taken the least time: a short report does not wait
 * for long ones.
 */
function queriesByCost(): ClientTurns {
  const waiting = costQueue<() => void>();
  let isRunning = false;
  return {
    async run({ tid }, clientGone, query) {
      if (isRunning) await new Promise<void>((resolve) => waiting.add(`${tid}`, resolve));
      isRunning = true;
      const start = performance.now();
      try {
        clientGone.throwIfAborted();
        return await query();
      } finally {
        waiting.charge(`${tid}`, performance.now() - start);
        const next = waiting.take();
        isRunning = next !== undefined;
        next?.();
      }
    },
  };
}

/** Returns the turns of reports. */
export const reportTurns = (): ReportTurns => ({
  queries: queriesByCost(),
  reports: limitSearches(concurrentReports.all, concurrentReports.tenant),
});

const maxWaitingPortals = { inner: 16, all: 500 };

/**
 * Returns the turns in which portal pages are built. One page is built at a time: a page of a thousand shares blocks the event loop, and
 * other requests must get their turn.
 */
export const portalTurns = (): ClientTurns => {
  const pages = turns({ concurrency: 1, maxWaiting: maxWaitingPortals, refusal });
  return { run: ({ tid, groups }, clientGone, read) => pages.run([`tenant ${tid}`, ...groups], clientGone, read) };
};
