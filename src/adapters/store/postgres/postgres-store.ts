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

/** Connections of one process: none waits for the work of another kind. */
const most = {
  questions: 10,
  changes: 10,
  changesOfTenants: 4,
  changesOfOneTenant: 3,
  changesOfVisitors: 4,
  attempts: 2,
  searches: 4,
  searchesOfOneTenant: 2,
  longRecords: 1,
  reports: 1,
  lines: 11, // those of tenants, visitors and attempts that run at once, and our own
  locks: 8,
};
const [shortPatience, longPatience] = [10_000, 60_000]; // ms; the second also ends the locks of a process that stands still

const manyMatches = { walk: 1500, few: 20_000 };

// A word decides how it is found best: by its parts, or, where it is short, by reading the tenant's texts.
// Workers beside it would take the processors that others' questions need: a tenant's searches are bounded by connections.
const planned = '-c plan_cache_mode=force_custom_plan -c jit=off -c max_parallel_workers_per_gather=0';

/** Opens a database on a PostgreSQL server. @param url postgres://user:password@host:port/database */
export async function openPostgresStore(url: string): Promise<Store> {
  await migrate(url, migrations, announceSteps);
  const questions = openPool(url, most.questions, shortPatience);
  const changes = openPool(url, most.changes, shortPatience);
  const searches = openPool(url, most.searches, longPatience, planned);
  const reports = openPool(url, most.reports, longPatience, planned);
  const lines = openPool(url, most.lines, longPatience);
  const locks = openPool(url, most.locks, longPatience);
  const close = async () => {
    await Promise.all([questions, changes, searches, reports, lines, locks].map((connections) => connections.close()));
  };
  let holds: Store['dialect']['holds'];
  try {
    holds = await wordsOver(searches);
  } catch (cause) {
    await close();
    throw cause;
  }
  const read = kyselyWith(questions);
  const write = changesOver(changes, lines, most);
  const longRecords = costTurns(most.longRecords);
  let full = false;
  return {
    read,
    reports: kyselyWith(reports),
    longRecords: (tid) => kyselyWith(searches, (query) => longRecords(`${tid}`, query)),
    searchesOfOneTenant: most.searchesOfOneTenant,
    ...searchesOver(searches, { statement: longPatience, ...manyMatches }),
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
        full = false;
        return value;
      } catch (cause) {
        if (cause instanceof StoreFull) full = true;
        throw cause;
      }
    },
    // Other processes change the same database: nothing is known to be as it was.
    cachedUntilChange: (_key, ask) => ask(),
    durable: async () => {}, // what is visible here is on disk
    isFull: () => full,
    isDamaged: () => false, // its server's to find
    exclusive: locksOver(locks, longPatience),
    ...identityOver(read),
    check: () => questions.with(async (client) => void (await questions.ask(client, 'SELECT 1'))),
    [Symbol.asyncDispose]: close,
  };
}
