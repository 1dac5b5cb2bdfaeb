import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Database } from '#ports/tables.ts';
import type { Answer } from './connection.ts';

/** Answers one query, at once or later. */
export type Ask = (sql: string, parameters: readonly unknown[]) => Answer | Promise<Answer>;

const noTransactions = () => Promise.reject(new Error('transactions belong to the write queue'));

/** Kysely that asks `ask`; it begins no transactions, which belong to the write queue. */
export function kyselyOver(ask: Ask): Kysely<Database> {
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
  return new Kysely<Database>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => driver,
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
}
