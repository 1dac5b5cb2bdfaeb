import { migrations } from '#adapters/store/migrations/migrations.ts';
import type { Store } from '#ports/store.ts';
import { isUniqueViolation } from './errors.ts';
import { setLastIds } from './last-ids.ts';
import { migrate } from './migrate.ts';
import { openConnections } from './pool.ts';
import { kyselyWith, searchesOver } from './searches.ts';
import { transactions } from './transactions.ts';
import { wordParts } from './word-parts.ts';

/** Connections of one process: none waits for the work of another kind. */
const most = { questions: 10, changes: 8, searches: 4 };
const [shortPatience, longPatience] = [10_000, 60_000]; // ms

const manyMatches = { walk: 1500, few: 20_000 };

// A word decides how it is found best: by its parts, or, where it is short, by reading the tenant's texts.
const planned = '-c plan_cache_mode=force_custom_plan -c jit=off';

/** Opens a database on a PostgreSQL server. @param url postgres://user:password@host:port/database */
export async function openPostgresStore(url: string): Promise<Store> {
  const questions = openConnections(url, most.questions, shortPatience);
  const changes = openConnections(url, most.changes, shortPatience);
  const searches = openConnections(url, most.searches, longPatience, planned);
  const close = async () => {
    await Promise.all([questions, changes, searches].map((connections) => connections.close()));
  };
  let isIndexed: Store['dialect']['isIndexed'];
  try {
    await migrate(searches, migrations);
    isIndexed = await wordParts(searches);
  } catch (cause) {
    await close();
    throw cause;
  }
  const transact = transactions(changes);
  return {
    read: kyselyWith(questions),
    ...searchesOver(searches, { statement: longPatience, ...manyMatches }),
    dialect: { name: 'postgres', isUniqueViolation, isIndexed, setLastIds },
    shared: true,
    write: (change, options = {}) => transact(change, options.dryRun ?? false),
    // Other processes change the same database: nothing is known to be as it was.
    unchanged: (_key, ask) => ask(),
    durable: async () => {}, // what is visible here is on disk
    check: () => questions.with(async (client) => void (await questions.ask(client, 'SELECT 1'))),
    [Symbol.asyncDispose]: close,
  };
}
