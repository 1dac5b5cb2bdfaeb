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

/** The result of a query: the rows that it returned, or, if it returns none, the number of rows that it changed. */
export interface DriverResult {
  readonly rows: unknown[];
  readonly changes: number;
}

/** Runs one query, synchronously or asynchronously. */
export type RunQuery = (sql: string, parameters: readonly unknown[]) => DriverResult | Promise<DriverResult>;

/** The parts of a Kysely dialect that write an engine's SQL. */
export type SqlDialect = Pick<Dialect, 'createAdapter' | 'createIntrospector' | 'createQueryCompiler'>;

const connectionFor = (runQuery: RunQuery): DatabaseConnection => ({
  async executeQuery<R>({ sql, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const result = runQuery(sql, parameters);
    const { rows, changes } = result instanceof Promise ? await result : result;
    // Safe by the driver's contract: rows have the type of their query.
    return { rows: rows as R[], numAffectedRows: BigInt(changes) };
  },
  streamQuery: () => {
    throw new Error('streaming is not supported: query page by page');
  },
});

class TransactionlessDriver extends DummyDriver {
  override beginTransaction(): Promise<void> {
    return Promise.reject(new Error('only the store may begin a transaction'));
  }
}

/** Executes every query on the same `DatabaseConnection`: acquiring and releasing one for each query costs more than a point read. */
class SingleConnectionExecutor extends DefaultQueryExecutor {
  readonly #connection: DatabaseConnection;
  constructor(sqlDialect: SqlDialect, connection: DatabaseConnection) {
    super(sqlDialect.createQueryCompiler(), sqlDialect.createAdapter(), { provideConnection: (consumer) => consumer(connection) });
    this.#connection = connection;
  }
  override executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return this.#connection.executeQuery(query);
  }
}

/** Returns a Kysely that runs its queries with `runQuery`. It begins no transactions: the store does. */
export function kyselyWithDriver(sqlDialect: SqlDialect, runQuery: RunQuery): Kysely<Database> {
  const driver = new TransactionlessDriver();
  const dialect = { ...sqlDialect, createDriver: () => driver };
  const executor = new SingleConnectionExecutor(sqlDialect, connectionFor(runQuery));
  return new Kysely<Database>({ config: { dialect }, dialect, driver, executor });
}
