import assert from 'node:assert/strict';
import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type SqlBool, sql } from 'kysely';
import { fairScheduler } from '#adapters/store/cost-turns.ts';
import { kyselyWithDriver, type RunQuery } from '#adapters/store/kysely-driver.ts';
import { announceMigrations } from '#adapters/store/migrations/announce-steps.ts';
import { migrations } from '#adapters/store/migrations/migrations.ts';
import { keyedMutex } from '#adapters/store/turns.ts';
import type { Store } from '#ports/store.ts';
import { startCheckpoints } from './checkpoints.ts';
import { openConnection, pragma } from './connection.ts';
import { checkForDamage, endedUncleanly, skippedDamageCheck } from './damage-check.ts';
import type { DiskEvents } from './disk-events.ts';
import { isReadFailure, isSqliteUniqueViolation } from './errors.ts';
import { sqliteDialect } from './language.ts';
import { setSqliteLastIds } from './last-ids.ts';
import { LookupCache } from './lookup-cache.ts';
import { migrateSqlite } from './migrate.ts';
import { lockProcess } from './process-lock.ts';
import { isOutOfSpace } from './quota.ts';
import { openReserveFile } from './reserve-file.ts';
import { sqliteSearch } from './search/find.ts';
import { SearchThread } from './search/searcher.ts';
import { trackTextChanges } from './search/text-changes.ts';
import { openWriteAheadLog } from './write-ahead-log.ts';
import { WriteQueue } from './write-queue.ts';

/**
 * Copies the log into the database and syncs it. After a crash, visible changes may be only in the page cache; from then
 * on they are on disk. On a full disk, or while a backup reads, a part stays in the log, which is synced when it is opened.
 */
function copyLog(database: DatabaseSync, file: string): void {
  try {
    pragma(database, 'wal_checkpoint(TRUNCATE)');
  } catch (cause) {
    if (!isOutOfSpace(cause, file)) throw cause;
  }
}

/** Opens the only writing connection, for the life of the process. Changes that a killed process left in the log are safe afterwards. */
function openWriter(file: string) {
  const writer = openConnection(file, { readOnly: false, cachesRows: true });
  const { database } = writer;
  assert.equal(pragma(database, 'journal_mode=WAL'), 'wal');
  database.exec('PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0');
  assert.equal(pragma(database, 'synchronous'), 1);
  copyLog(database, file);
  migrateSqlite(database, migrations, (step) => `${file}.before-${step}`, announceMigrations);
  return writer;
}

/** Removes the read permission of other users. By path, since closing a descriptor would release SQLite's locks. */
function restrictAccess(file: string): void {
  for (const name of [file, `${file}-wal`, `${file}-shm`, `${file}-journal`]) if (existsSync(name)) chmodSync(name, 0o600);
}

const reportDamage = (findings: readonly string[]) =>
  void process.stderr.write(
    `postern.db is damaged: ${findings.join('; ')}. Restore a backup (npm run restore). Until then, Postern serves the records that it can still read.\n`,
  );

/**
 * Opens the SQLite database in a folder.
 * @param onLost called when the disk failed and the outcome of changes is unknown: the process must end without another response
 * @param searchMemory bytes for the texts that word searches read; 0: each search reads them from the database
 * @throws InUse if another process uses the folder
 */
export function openSqliteStore(folder: string, onLost: (cause: unknown) => void, searchMemory = 0): Store {
  const lock = lockProcess(join(folder, 'lock.db'));
  restrictAccess(join(folder, 'lock.db'));
  const reserve = openReserveFile(folder);
  const file = join(folder, 'postern.db');
  const events: DiskEvents = { onLost, isFull: (cause) => isOutOfSpace(cause, file, reserve.isFull(0)), freeSpace: reserve.release };
  const needsCheck = endedUncleanly(file);
  const writer = openWriter(file);
  restrictAccess(file);
  const reader = openConnection(file, { readOnly: true });
  const log = openWriteAheadLog(file, onLost);
  const damageCheck = needsCheck ? checkForDamage(file, reportDamage) : skippedDamageCheck;
  const lookups = new LookupCache();
  const startSearcher = (mostBytes: number) =>
    new SearchThread({ file, maxBytes: mostBytes }, (cause) => isReadFailure(cause) && onLost(cause));
  const wordSearcher = startSearcher(searchMemory);
  const takeTextChanges = trackTextChanges(writer.database);
  const committed = () => {
    lookups.noteChanges(writer.takeChangedTables());
    wordSearcher.applyChanges(takeTextChanges());
  };
  const queue = new WriteQueue(writer, log, { ...events, committed });
  const [secondSearcher, reporter] = [startSearcher(0), startSearcher(0)];
  const searchers = [wordSearcher, secondSearcher, reporter];
  const checkpoints = startCheckpoints(file, { queue, log, searchers }, events);
  // Only the first thread searches words. It takes other queries only if the second one is busier.
  const runInThread: RunQuery = (text, parameters) =>
    (secondSearcher.pendingCount > wordSearcher.pendingCount ? wordSearcher : secondSearcher).query(text, parameters);
  const noted =
    (run: RunQuery): RunQuery =>
    (text, parameters) => {
      lookups.noteReads(() => reader.tablesRead(text));
      return run(text, parameters);
    };
  const search = kyselyWithDriver(sqliteDialect, noted(runInThread));
  const runInTurn = fairScheduler(1);
  return {
    read: kyselyWithDriver(
      sqliteDialect,
      noted((text, parameters) => {
        try {
          return reader.run(text, parameters);
        } catch (cause) {
          // If the disk cannot be read, every request would fail with 500: the process ends, and the next start checks the database.
          if (isReadFailure(cause)) onLost(cause);
          throw cause;
        }
      }),
    ),
    search,
    reports: kyselyWithDriver(sqliteDialect, noted(reporter.query)),
    longRecordReader: (tid) =>
      kyselyWithDriver(
        sqliteDialect,
        noted((text, parameters) => runInTurn(`${tid}`, async () => runInThread(text, parameters))),
      ),
    maxSearchesPerTenant: 1,
    searchPage: sqliteSearch(search, wordSearcher),
    dialect: {
      name: 'sqlite',
      isUniqueViolation: isSqliteUniqueViolation,
      // Not LIKE, which takes a thousand times as long if a long word almost matches at every position.
      containsWord: (column, word) => sql<SqlBool>`instr(${sql.ref(column)}, ${word}) > 0`,
      now: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
      rowId: 'rowid',
      setLastIds: setSqliteLastIds,
    },
    isShared: false,
    write: (change, turn, options) => queue.write(change, turn, options),
    cachedUntilChange: (key, query) => lookups.get(key, query),
    sync: () => queue.sync(),
    check: async () => void reader.run('SELECT 1', []),
    isFull: (leaving = 0) => reserve.isFull(leaving),
    identity: async () => folder,
    isUsedByOthers: async () => false, // a second process is refused
    isDamaged: () => damageCheck.findings().length > 0,
    withLock: keyedMutex(),
    async [Symbol.asyncDispose]() {
      await queue.close();
      await checkpoints[Symbol.asyncDispose]();
      for (const searcher of searchers) await searcher[Symbol.asyncDispose]();
      await damageCheck[Symbol.asyncDispose]();
      reader.database.close();
      reserve[Symbol.dispose]();
      await log.close();
      writer.database.close();
      lock[Symbol.dispose]();
    },
  };
}
