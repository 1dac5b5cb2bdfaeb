import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { SqlDialect } from '#adapters/store/kysely-driver.ts';

export const postgresDialect: SqlDialect = {
  createAdapter: () => new PostgresAdapter(),
  createIntrospector: (db) => new PostgresIntrospector(db),
  createQueryCompiler: () => new PostgresQueryCompiler(),
};
