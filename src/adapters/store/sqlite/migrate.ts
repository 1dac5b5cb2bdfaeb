import { rmSync, writeFileSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { replaceFileDurably } from '#adapters/os/durable-file.ts';
import type { ColumnTypes, Migration } from '#adapters/store/migrations/migration.ts';
import { pendingMigrations } from '#adapters/store/migrations/pending-migrations.ts';

const identity = 'INTEGER PRIMARY KEY AUTOINCREMENT';
const types: ColumnTypes = {
  engine: 'sqlite',
  identity,
  tenantIdentity: identity,
  tenantKey: 'UNIQUE (tid, id)',
  integer: 'INTEGER',
  text: 'TEXT',
};

/** Returns the migrations that are not applied yet. @throws Error if the database is newer than this program */
function findPending(database: DatabaseSync, migrations: readonly Migration[]): readonly Migration[] {
  database.exec('CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY) STRICT');
  const appliedNames = database
    .prepare('SELECT name FROM migration ORDER BY name')
    .all()
    .map(({ name }) => String(name));
  return pendingMigrations(appliedNames, migrations);
}

/**
 * Migrates the database to the newest schema, all steps in one transaction. A database that is not new is copied first.
 * @param copyTo returns the path of the copy for the name of the first step
 * @param announce called before the first step with the names of all pending steps, if the database is not new
 * @throws Error if the database is newer than this program
 */
export function migrateSqlite(
  database: DatabaseSync,
  migrations: readonly Migration[],
  copyTo: (step: string) => string,
  announce: (steps: readonly string[]) => void,
): void {
  const pending = findPending(database, migrations);
  const [first] = pending;
  if (!first) return;
  if (pending.length < migrations.length) {
    announce(pending.map(({ name }) => name));
    copy(database, copyTo(first.name));
  }
  database.exec('BEGIN IMMEDIATE');
  try {
    for (const migration of pending) {
      for (const statement of migration.statements(types)) database.exec(strict(statement));
      database.prepare('INSERT INTO migration (name) VALUES (?)').run(migration.name);
    }
    database.exec('COMMIT');
  } catch (cause) {
    if (database.isTransaction) database.exec('ROLLBACK'); // else SQLite has rolled back, and an error here would hide the cause
    throw cause;
  }
}

/** Copies the database. Postern never reads the copy. Replaces a copy from a migration that did not complete: it has the same schema. */
function copy(database: DatabaseSync, file: string): void {
  for (const oldCopy of [file, `${file}.part`]) rmSync(oldCopy, { force: true });
  writeFileSync(`${file}.part`, '', { mode: 0o600 }); // SQLite fills an empty file, and would create one that other users can read
  database.prepare('VACUUM INTO ?').run(`${file}.part`);
  replaceFileDurably(`${file}.part`, file);
}

/** Makes a new table STRICT: its columns hold only values of their type, as in PostgreSQL. */
function strict(statement: string): string {
  if (!/^\s*CREATE TABLE/.test(statement)) return statement;
  return `${statement}${statement.endsWith('WITHOUT ROWID') ? ',' : ''} STRICT`;
}
