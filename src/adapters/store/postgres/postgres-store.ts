import { sql } from 'kysely';
import { costTurns } from '#adapters/store/cost-turns.ts';
import { announceSteps } from '#adapters/store/migrations/announce-steps.ts';
import { migrations } from '#adapters/store/migrations/migrations.ts';
import { type Store, StoreFull } from '#ports/store.ts';
import { changesOver } from './changes.ts';
import { isUniqueViolation } from './errors.ts';
import { identityOver } from './identity.ts';
import { setLastIds } from './last-ids.ts';
import { locksOver } from './locks.ts';
import { migrate } from './migrate.ts';
import { openPool } from './pool.ts';
import { kyselyWith, searchesOver } from './searches.ts';
import { wordsOver } from './word-parts.ts';

/**
 * Connections of one process, and how many of them one kind of work may use. Each kind has its own, so that none waits
 * for the work of another.
 */
const limits = {
  reads: 10,
  changes: 10,
  changesOfTenants: 4,
  changesOfOneTenant: 3,
  changesOfVisitors: 4,
  attempts: 2,
  searches: 4,
  searchesOfOneTenant: 2,
  longRecords: 1,
  reports: 1,
  retryQueues: 11, // for the concurrent changes of tenants (4), visitors (4) and sign-in attempts (2), and for our own jobs
  locks: 8,
};
const [shortTimeout, longTimeout] = [10_000, 60_000]; // ms; the long one also ends the locks of a process that hangs

const searchLimits = { walk: 1500, few: 20_000 };

// Custom plans, since the best plan depends on the word: the index of its parts, or, for a short word, a scan of the tenant's texts.
// No parallel workers, since they take processors from other queries: the number of connections limits a tenant's searches.
const searchOptions = '-c plan_cache_mode=force_custom_plan -c jit=off -c max_parallel_workers_per_gather=0';

/** Opens a database on a PostgreSQL server. @param url postgres://user:password@host:port/database */
export async function openPostgresStore(url: string): Promise<Store> {
  await migrate(url, migrations, announceSteps);
  const reads = openPool(url, limits.reads, shortTimeout);
  const changes = openPool(url, limits.changes, shortTimeout);
  const searches = openPool(url, limits.searches, longTimeout, searchOptions);
  const reports = openPool(url, limits.reports, longTimeout, searchOptions);
  const retryQueues = openPool(url, limits.retryQueues, longTimeout);
  const locks = openPool(url, limits.locks, longTimeout);
  const close = async () => {
    await Promise.all([reads, changes, searches, reports, retryQueues, locks].map((connections) => connections.close()));
  };
  let holds: Store['dialect']['holds'];
  try {
    holds = await wordsOver(searches);
  } catch (cause) {
    await close();
    throw cause;
  }
  const read = kyselyWith(reads);
  const write = changesOver(changes, retryQueues, limits);
  const runInTurn = costTurns(limits.longRecords);
  let isFull = false;
  return {
    read,
    reports: kyselyWith(reports),
    longRecords: (tid) => kyselyWith(searches, (query) => runInTurn(`${tid}`, query)),
    searchesOfOneTenant: limits.searchesOfOneTenant,
    ...searchesOver(searches, { statement: longTimeout, ...searchLimits }),
    dialect: {
      name: 'postgres',
      isUniqueViolation,
      holds,
      now: sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`,
      rowId: 'ctid',
      setLastIds,
    },
    shared: true,
    async write(change, turn, options) {
      try {
        const value = await write(change, turn, options);
        isFull = false;
        return value;
      } catch (cause) {
        if (cause instanceof StoreFull) isFull = true;
        throw cause;
      }
    },
    // No cache: other processes may change the same database at any time.
    cachedUntilChange: (_key, query) => query(),
    durable: async () => {}, // the server syncs a commit before it is visible
    isFull: () => isFull,
    isDamaged: () => false, // the server checks its own disk
    exclusive: locksOver(locks, longTimeout),
    ...identityOver(read),
    check: () => reads.with(async (client) => void (await reads.ask(client, 'SELECT 1'))),
    [Symbol.asyncDispose]: close,
  };
}
