import type { TestContext } from 'node:test';
import { CompiledQuery } from 'kysely';
import pg from 'pg';
import type { Store } from '#ports/store.ts';

/**
 * Records the last query that contains `part` and that this thread sends to PostgreSQL.
 * @returns a function that returns the plan with which PostgreSQL would run that query at the time of the call
 */
export function queryPlan(t: TestContext, part: string): (store: Store) => Promise<string> {
  let lastQuery: CompiledQuery | undefined;
  const { query } = pg.Client.prototype;
  t.mock.method(pg.Client.prototype, 'query', function (this: pg.Client, ...parameters: unknown[]) {
    const { text, values } = Object(parameters[0]);
    if (String(text).includes(part)) lastQuery = CompiledQuery.raw(`explain ${text}`, values);
    return Reflect.apply(query, this, parameters);
  });
  return async ({ read }) => {
    if (!lastQuery) throw new Error(`no query contains ${part}`);
    return JSON.stringify((await read.executeQuery(lastQuery)).rows);
  };
}
