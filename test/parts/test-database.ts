import { createHash } from 'node:crypto';
import { copyFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';

/** URL of the server if the tests run on PostgreSQL. */
const server = process.env['POSTERN_TEST_POSTGRES'];
/** Name of a migrated database, which scripts/run-tests.ts creates on that server. Each data folder gets a copy of the database. */
export const templateDatabase = 'postern_template';

/** File name of a SQLite database in a data folder. */
const sqliteName = 'postern.db';

/** Copies the migrated database of scripts/run-tests.ts into a new data folder, because the migrations take longer than many tests. */
async function copySqliteTemplate(folder: string): Promise<void> {
  const template = process.env['POSTERN_TEST_SQLITE'];
  const isNew = template !== undefined && (await readdir(folder)).length === 0;
  if (isNew) await copyFile(join(template, sqliteName), join(folder, sqliteName));
}

/** Returns the database settings for a Postern on a folder. The same folder always gets the same database. */
export async function databaseOf(folder: string): Promise<Record<string, string>> {
  if (server === undefined) {
    await copySqliteTemplate(folder);
    return {};
  }
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
