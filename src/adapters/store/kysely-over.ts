import { type CompiledQuery, type DatabaseConnection, type Dialect, type Driver, Kysely, type QueryResult } from 'kysely';
import type { Database } from '#ports/tables.ts';

/** What a query gave: its rows, or how many it changed. */
export interface Answer {
  readonly rows: unknown[];
  readonly changes: number;
}

/** Answers one query, at once or later. */
export type Ask = (sql: string, parameters: readonly unknown[]) => Answer | Promise<Answer>;

/** How an engine's SQL is written. */
export type Language = Pick<Dialect, 'createAdapter' | 'createIntrospector' | 'createQueryCompiler'>;

const noTransactions = () => Promise.reject(new Error('transactions belong to the store'));

/** Kysely that asks `ask`; it begins no transactions, which belong to the store. */
export function kyselyOver(language: Language, ask: Ask): Kysely<Database> {
  const connection: DatabaseConnection = {
    async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
      const { rows, changes } = await ask(sql, parameters);
      // The driver's contract: what a row holds is what the query's type says.
      return { rows: rows as R[], numAffectedRows: BigInt(changes) };
    },
    streamQuery: () => {
      throw new Error('rows are not streamed; ask for pages');
    },
  };
  const driver: Driver = {
    init: async () => {},
    acquireConnection: async () => connection,
    beginTransaction: noTransactions,
    commitTransaction: noTransactions,
    rollbackTransaction: noTransactions,
    releaseConnection: async () => {},
    destroy: async () => {},
  };
  return new Kysely<Database>({ dialect: { ...language, createDriver: () => driver } });
}
