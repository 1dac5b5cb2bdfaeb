import type { DatabaseSync } from 'node:sqlite';
import type { ColumnTypes, Migration } from '#adapters/store/migrations/migration.ts';

const types: ColumnTypes = { engine: 'sqlite', identity: 'INTEGER PRIMARY KEY AUTOINCREMENT', integer: 'INTEGER', text: 'TEXT' };

/**
 * Brings the database to the newest form, all steps in one transaction.
 * @throws where the database holds a step that this program does not know: it is newer.
 */
export function migrate(database: DatabaseSync, migrations: readonly Migration[]): void {
  database.exec('BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY) STRICT');
  try {
    const done = database
      .prepare('SELECT name FROM migration ORDER BY name')
      .all()
      .map(({ name }) => String(name));
    const unknown = done.find((name) => !migrations.some((migration) => migration.name === name));
    if (unknown !== undefined) throw new Error(`the database was made by a newer Postern (it holds ${unknown})`);
    for (const migration of migrations.filter(({ name }) => !done.includes(name))) {
      for (const statement of migration.statements(types)) database.exec(strict(statement));
      database.prepare('INSERT INTO migration (name) VALUES (?)').run(migration.name);
    }
    database.exec('COMMIT');
  } catch (cause) {
    database.exec('ROLLBACK');
    throw cause;
  }
}

/** STRICT tables hold what the column's type says, as PostgreSQL's do. */
const strict = (statement: string) => (/^\s*CREATE TABLE/.test(statement) ? `${statement} STRICT` : statement);
