import type { TestContext } from 'node:test';
import pg from 'pg';
import { atEnd } from './at-end.ts';
import { startPostgres } from './postgres-server.ts';

/** Starts a PostgreSQL server with an empty database, and connects to the database. */
export async function startEmptyPostgres(t: TestContext) {
  const server = await startPostgres();
  atEnd(t, () => server[Symbol.asyncDispose]());
  const url = server.url('postgres');
  const client = new pg.Client(url);
  await client.connect();
  atEnd(t, () => client.end());
  return { url, client };
}
