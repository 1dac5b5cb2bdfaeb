import { rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { putInPlace } from '#adapters/os/durable-file.ts';
import type { ColumnTypes, Migration } from '#adapters/store/migrations/migration.ts';
import { pendingSteps } from '#adapters/store/migrations/pending.ts';

const identity = 'INTEGER PRIMARY KEY AUTOINCREMENT';
const types: ColumnTypes = {
  engine: 'sqlite',
  identity,
  tenantIdentity: identity,
  tenantKey: 'UNIQUE (tid, id)',
  integer: 'INTEGER',
  text: 'TEXT',
};

/** The steps that are still to be taken. @throws where the database is newer than this program */
function pending(database: DatabaseSync, migrations: readonly Migration[]): readonly Migration[] {
  database.exec('CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY) STRICT');
  const done = database
    .prepare('SELECT name FROM migration ORDER BY name')
    .all()
    .map(({ name }) => String(name));
  return pendingSteps(done, migrations);
}

/**
 * Brings the database to the newest form, all steps in one transaction; one that holds records is copied before.
 * @param copyTo path of the copy, by the first step's name
 * @param announce called with the names of the steps before the first one, if the database holds records
 */
export function migrate(
  database: DatabaseSync,
  migrations: readonly Migration[],
  copyTo: (step: string) => string,
  announce: (steps: readonly string[]) => void,
): void {
  const steps = pending(database, migrations);
  const [first] = steps;
  if (!first) return;
  if (steps.length < migrations.length) {
    announce(steps.map(({ name }) => name));
    copy(database, copyTo(first.name));
  }
  database.exec('BEGIN IMMEDIATE');
  try {
    for (const migration of steps) {
      for (const statement of migration.statements(types)) database.exec(strict(statement));
      database.prepare('INSERT INTO migration (name) VALUES (?)').run(migration.name);
    }
    database.exec('COMMIT');
  } catch (cause) {
    if (database.isTransaction) database.exec('ROLLBACK'); // else SQLite has done it, and an error here would hide the cause
    throw cause;
  }
}

/** A copy that an earlier start left is of the same form: that start did not come to its end. */
function copy(database: DatabaseSync, file: string): void {
  for (const left of [file, `${file}.part`]) rmSync(left, { force: true });
  database.prepare('VACUUM INTO ?').run(`${file}.part`);
  putInPlace(`${file}.part`, file);
}

/** STRICT tables hold what the column's type says, as PostgreSQL's do. */
const strict = (statement: string) => (/^\s*CREATE TABLE/.test(statement) ? `${statement} STRICT` : statement);
