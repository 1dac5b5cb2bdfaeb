import {
  type CompiledQuery,
  type DatabaseConnection,
  DefaultQueryExecutor,
  type Dialect,
  DummyDriver,
  Kysely,
  type QueryResult,
} from 'kysely';
import type { Database } from '#ports/tables.ts';

/** What a query gave: its rows, or how many it changed. */
export interface DriverResult {
  readonly rows: unknown[];
  readonly changes: number;
}

/** Answers one query, at once or later. */
export type RunQuery = (sql: string, parameters: readonly unknown[]) => DriverResult | Promise<DriverResult>;

/** How an engine's SQL is written. */
export type SqlDialect = Pick<Dialect, 'createAdapter' | 'createIntrospector' | 'createQueryCompiler'>;

const connectionOver = (ask: RunQuery): DatabaseConnection => ({
  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const asked = ask(sql, parameters);
    const { rows, changes } = asked instanceof Promise ? await asked : asked;
    // The driver's contract: what a row holds is what the query's type says.
    return { rows: rows as R[], numAffectedRows: BigInt(changes) };
  },
  streamQuery: () => {
    throw new Error('rows are not streamed; ask for pages');
  },
});

class NoTransactions extends DummyDriver {
  override beginTransaction(): Promise<void> {
    return Promise.reject(new Error('transactions belong to the store'));
  }
}

/** Asks the one connection there is: taking one from a pool and giving it back costs more than a point read. */
class OneConnection extends DefaultQueryExecutor {
  readonly #connection: DatabaseConnection;
  constructor(language: SqlDialect, connection: DatabaseConnection) {
    super(language.createQueryCompiler(), language.createAdapter(), { provideConnection: (consumer) => consumer(connection) });
    this.#connection = connection;
  }
  override executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#connection.executeQuery(query);
  }
}

/** Kysely that asks `ask`; it begins no transactions, which belong to the store. */
export function kyselyWithDriver(language: SqlDialect, ask: RunQuery): Kysely<Database> {
  const driver = new NoTransactions();
  const dialect = { ...language, createDriver: () => driver };
  return new Kysely<Database>({ config: { dialect }, dialect, driver, executor: new OneConnection(language, connectionOver(ask)) });
}
