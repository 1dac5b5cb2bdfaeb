import { type Answer, kyselyOver } from '#adapters/store/kysely-over.ts';
import { migrations } from '#adapters/store/migrations/migrations.ts';
import type { Store } from '#ports/store.ts';
import { isUniqueViolation } from './errors.ts';
import { postgres } from './language.ts';
import { migrate } from './migrate.ts';
import { type Connections, openConnections } from './pool.ts';
import { transactions } from './transactions.ts';

const [mostShort, mostLong] = [16, 4];
const [shortPatience, longPatience] = [10_000, 60_000]; // ms

async function askAny(connections: Connections, sql: string, parameters: readonly unknown[]): Promise<Answer> {
  const client = await connections.take();
  let lost = true;
  try {
    const answer = await connections.ask(client, sql, parameters);
    lost = false;
    return answer;
  } finally {
    client.release(lost);
  }
}

/** Opens a database on a PostgreSQL server. @param url postgres://user:password@host:port/database */
export async function openPostgresStore(url: string): Promise<Store> {
  const short = openConnections(url, mostShort, shortPatience);
  const long = openConnections(url, mostLong, longPatience);
  const close = async () => {
    await short.close();
    await long.close();
  };
  try {
    await migrate(long, migrations);
  } catch (cause) {
    await close();
    throw cause;
  }
  const transact = transactions(short);
  return {
    read: kyselyOver(postgres, (sql, parameters) => askAny(short, sql, parameters)),
    search: kyselyOver(postgres, (sql, parameters) => askAny(long, sql, parameters)),
    dialect: { name: 'postgres', isUniqueViolation },
    write: (change, options = {}) => transact(change, options.dryRun ?? false),
    // Other processes change the same database: nothing is known to be as it was.
    unchanged: (_key, ask) => ask(),
    durable: async () => {}, // what is visible here is on disk
    check: async () => void (await askAny(short, 'SELECT 1', [])),
    [Symbol.asyncDispose]: close,
  };
}
