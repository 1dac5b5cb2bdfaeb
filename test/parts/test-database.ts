import { createHash } from 'node:crypto';
import pg from 'pg';

/** URL of the server if the tests run on PostgreSQL. */
const server = process.env['POSTERN_TEST_POSTGRES'];
/** Name of a migrated database on that server, which scripts/run-tests.ts creates. Each data folder gets a copy of it. */
export const templateDatabase = 'postern_template';

/** Returns the database settings for a Postern on a folder. The same folder always gets the same database. */
export async function databaseOf(folder: string): Promise<Record<string, string>> {
  if (server === undefined) return {};
  const name = `t_${createHash('sha256').update(folder).digest('hex').slice(0, 16)}`;
  const client = new pg.Client(`${server}/postgres`);
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${name} TEMPLATE ${templateDatabase} STRATEGY FILE_COPY`);
  } finally {
    await client.end();
  }
  return { POSTERN_DATABASE_URL: `${server}/${name}` };
}
