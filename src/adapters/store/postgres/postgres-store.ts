import { AsyncLocalStorage } from 'node:async_hooks';
import { sql } from 'kysely';
import type pg from 'pg';
import { fairScheduler } from '#adapters/os/fair-scheduler.ts';
import { announceMigrations } from '#adapters/store/migrations/announce-migrations.ts';
import { migrations } from '#adapters/store/migrations/migrations.ts';
import { type Store, StoreFull, StoreUnavailable } from '#ports/store.ts';
import { changeRunner } from './changes.ts';
import { databaseIdentification } from './database-id.ts';
import { isPostgresUniqueViolation } from './errors.ts';
import { setPostgresLastIds } from './last-ids.ts';
import { migratePostgres } from './migrate.ts';
import { type ConnectionPool, openPool } from './pool.ts';
import { type ClientAddress, withReadingTurns } from './reading-turns.ts';
import { kyselyOnPool, postgresSearch } from './searches.ts';
import { SessionLocks } from './session-locks.ts';
import { wordCondition } from './word-parts.ts';

/**
 * Checks that the database accepts changes: a standby and a database that was made read-only answer queries only.
 * @throws StoreUnavailable
 */
async function checkWritable(pool: ConnectionPool, client: pg.PoolClient): Promise<void> {
  const { rows } = await pool.query(client, "SELECT 1 WHERE current_setting('transaction_read_only') = 'off'");
  if (rows.length === 0) throw new StoreUnavailable('the database is read-only');
}

/**
 * Connections of one process, and how many of them each kind of work may use. Without these limits, one kind of work could occupy the
 * connections that another kind needs. Changes of our own jobs have no limit.
 */
const limits = {
  reads: 10,
  changes: 10,
  changesOfTenants: 4,
  changesOfOneTenant: 3,
  changesOfVisitors: 4,
  attempts: 2,
  searches: 4,
  maxSearchesPerTenant: 2,
  longRecords: 1,
  reports: 1,
  retryQueues: 11, // for the concurrent changes of tenants (4), visitors (4) and sign-in attempts (2), and for our own jobs
  locks: 1, // one connection holds all locks
};
const [shortTimeout, longTimeout] = [10_000, 60_000]; // ms

const lockStatementTimeout = 5000; // ms; no statement waits for a lock
// `maxIdle` is longer than the minute after which the pool closes an unused connection.
const lockTimes = { maxIdle: 90_000, aliveInterval: 15_000, maxWait: longTimeout };

const searchLimits = { walkTimeout: 1500, maxUnlimitedMatches: 20_000 };

// Custom plans, since the best plan depends on the word: it uses the trigram index, or, for a short word, scans the tenant's texts.
// No parallel workers: with them, one search would take several processors from other queries.
const searchOptions = '-c plan_cache_mode=force_custom_plan -c jit=off -c max_parallel_workers_per_gather=0';

/**
 * Opens a database on a PostgreSQL server.
 * @param url postgres://user:password@host:port/database
 * @param clientAddress returns the address of the client whose request is running: short queries of different networks take turns
 */
export async function openPostgresStore(url: string, clientAddress: ClientAddress = () => undefined): Promise<Store> {
  await migratePostgres(url, migrations, announceMigrations);
  const reads = openPool(url, limits.reads, shortTimeout);
  const changes = openPool(url, limits.changes, shortTimeout);
  const searches = openPool(url, limits.searches, longTimeout, searchOptions);
  const reports = openPool(url, limits.reports, longTimeout, searchOptions);
  const retryQueues = openPool(url, limits.retryQueues, longTimeout);
  const locks = openPool(url, limits.locks, lockStatementTimeout);
  const { run: withLocks } = new SessionLocks(locks, lockTimes);
  const close = async () => {
    await Promise.all([reads, changes, searches, reports, retryQueues, locks].map((connections) => connections.close()));
  };
  let containsWord: Store['dialect']['containsWord'];
  try {
    containsWord = await wordCondition(searches);
  } catch (cause) {
    await close();
    throw cause;
  }
  const ownWork = new AsyncLocalStorage<true>();
  const read = kyselyOnPool(withReadingTurns(reads, limits.reads, () => (ownWork.getStore() ? undefined : clientAddress())));
  const write = changeRunner(changes, retryQueues, limits);
  const runInTurn = fairScheduler(limits.longRecords);
  let isFull = false;
  return {
    read,
    reports: kyselyOnPool(reports),
    longRecordReader: (tid) => kyselyOnPool(searches, (query) => runInTurn(`${tid}`, query)),
    maxSearchesPerTenant: limits.maxSearchesPerTenant,
    ...postgresSearch(searches, { statementTimeout: longTimeout, ...searchLimits }),
    dialect: {
      name: 'postgres',
      isUniqueViolation: isPostgresUniqueViolation,
      containsWord,
      now: sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`,
      rowId: 'ctid',
      setLastIds: setPostgresLastIds,
    },
    isShared: true,
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
    inOwnTurns: (work) => ownWork.run(true, work),
    sync: async () => {}, // the server syncs a commit before it is visible
    isFull: () => isFull,
    isDamaged: () => false, // the server checks its own disk
    withLocks,
    ...databaseIdentification(read),
    // Takes no turn: the database counts as available even while many requests wait for it.
    check: () => reads.withClient((client) => checkWritable(reads, client)),
    [Symbol.asyncDispose]: close,
  };
}
