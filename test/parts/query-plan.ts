import type { TestContext } from 'node:test';
import { CompiledQuery } from 'kysely';
import pg from 'pg';
import type { Store } from '#ports/store.ts';

/**
 * Records the last query containing a text that this process sends to PostgreSQL.
 * @param part text that the query contains
 * @returns a function that returns the plan with which PostgreSQL would run that query at the time of the call
 */
export function queryPlan(t: TestContext, part: string): (store: Store) => Promise<string> {
  let heard: CompiledQuery | undefined;
  const { query } = pg.Client.prototype;
  t.mock.method(pg.Client.prototype, 'query', function (this: pg.Client, ...asked: unknown[]) {
    const { text, values } = Object(asked[0]);
    if (String(text).includes(part)) heard = CompiledQuery.raw(`explain ${text}`, values);
    return Reflect.apply(query, this, asked);
  });
  return async ({ read }) => {
    if (!heard) throw new Error(`no query has ${part}`);
    return JSON.stringify((await read.executeQuery(heard)).rows);
  };
}
