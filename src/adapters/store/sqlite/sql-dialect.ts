import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { SqlDialect } from '#adapters/store/kysely-driver.ts';

export const sqliteDialect: SqlDialect = {
  createAdapter: () => new SqliteAdapter(),
  createIntrospector: (db) => new SqliteIntrospector(db),
  createQueryCompiler: () => new SqliteQueryCompiler(),
};
