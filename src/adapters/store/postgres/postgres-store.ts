import { keptCounts } from '#adapters/store/kept-counts.ts';
import { kyselyOver } from '#adapters/store/kysely-over.ts';
import { migrations } from '#adapters/store/migrations/migrations.ts';
import { pageBySql } from '#adapters/store/page-query.ts';
import type { Store } from '#ports/store.ts';
import { isUniqueViolation } from './errors.ts';
import { postgres } from './language.ts';
import { setLastIds } from './last-ids.ts';
import { migrate } from './migrate.ts';
import { type Connections, openConnections } from './pool.ts';
import { transactions } from './transactions.ts';

/** Connections of one process: none waits for the work of another kind. */
const most = { questions: 10, changes: 8, searches: 4 };
const [shortPatience, longPatience] = [10_000, 60_000]; // ms

// A word decides how it is found best: by its parts, or, where it is short, by reading the tenant's texts.
const planned = '-c plan_cache_mode=force_custom_plan -c jit=off';

const over = (connections: Connections) =>
  kyselyOver(postgres, (sql, parameters) => connections.with((client) => connections.ask(client, sql, parameters)));

/** Opens a database on a PostgreSQL server. @param url postgres://user:password@host:port/database */
export async function openPostgresStore(url: string): Promise<Store> {
  const questions = openConnections(url, most.questions, shortPatience);
  const changes = openConnections(url, most.changes, shortPatience);
  const searches = openConnections(url, most.searches, longPatience, planned);
  const close = async () => {
    await Promise.all([questions, changes, searches].map((connections) => connections.close()));
  };
  try {
    await migrate(searches, migrations);
  } catch (cause) {
    await close();
    throw cause;
  }
  const search = over(searches);
  const counts = keptCounts();
  const transact = transactions(changes);
  return {
    read: over(questions),
    search,
    find: (asked) => pageBySql(search, asked.holding?.matches ?? asked.matches, asked, counts),
    dialect: { name: 'postgres', isUniqueViolation, setLastIds },
    shared: true,
    write: (change, options = {}) => transact(change, options.dryRun ?? false),
    // Other processes change the same database: nothing is known to be as it was.
    unchanged: (_key, ask) => ask(),
    durable: async () => {}, // what is visible here is on disk
    check: () => questions.with(async (client) => void (await questions.ask(client, 'SELECT 1'))),
    [Symbol.asyncDispose]: close,
  };
}
