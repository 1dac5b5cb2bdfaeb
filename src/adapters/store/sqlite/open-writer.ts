import assert from 'node:assert/strict';
import { chmodSync, existsSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { announceMigrations } from '#adapters/store/migrations/announce-migrations.ts';
import { migrations } from '#adapters/store/migrations/migrations.ts';
import { type Connection, openConnection, pragma } from './connection.ts';
import { migrateSqlite } from './migrate.ts';
import { isOutOfSpace } from './out-of-space.ts';

/**
 * Copies the log into the database and syncs the database. After a crash of the process, visible changes may be only in the page cache;
 * this call writes them to disk. On a full disk, or while a backup reads, some or all of them stay in the log, which `openWriteAheadLog`
 * syncs.
 */
function copyLog(database: DatabaseSync, file: string): void {
  try {
    pragma(database, 'wal_checkpoint(TRUNCATE)');
  } catch (cause) {
    if (!isOutOfSpace(cause, file)) throw cause;
  }
}

/**
 * Opens the only connection that writes records, for the life of the process. Copies the changes that a killed process left in the log into
 * the database, and migrates the database.
 */
export function openWriter(file: string): Connection {
  const writer = openConnection(file, { readOnly: false, cachesRows: true });
  const { database } = writer;
  assert.equal(pragma(database, 'journal_mode=WAL'), 'wal');
  database.exec('PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0');
  assert.equal(pragma(database, 'synchronous'), 1);
  copyLog(database, file);
  migrateSqlite(database, migrations, (step) => `${file}.before-${step}`, announceMigrations);
  return writer;
}

/** Removes all permissions of other users. Opens no file, because closing a descriptor would release SQLite's locks. */
export function restrictAccess(file: string): void {
  for (const name of [file, `${file}-wal`, `${file}-shm`, `${file}-journal`]) if (existsSync(name)) chmodSync(name, 0o600);
}
