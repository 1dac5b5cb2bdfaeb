import assert from 'node:assert/strict';
import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { type SqlBool, sql } from 'kysely';
import { costTurns } from '#adapters/store/cost-turns.ts';
import { kyselyWithDriver, type RunQuery } from '#adapters/store/kysely-driver.ts';
import { announceSteps } from '#adapters/store/migrations/announce-steps.ts';
import { migrations } from '#adapters/store/migrations/migrations.ts';
import { inTurns } from '#adapters/store/turns.ts';
import type { Store } from '#ports/store.ts';
import { startCheckpoints } from './checkpoints.ts';
import { openConnection, pragma } from './connection.ts';
import { checkForDamage, endedUncleanly, noCheck } from './damage-check.ts';
import type { DiskEvents } from './disk-events.ts';
import { isUniqueViolation, isUnreadable } from './errors.ts';
import { sqlite } from './language.ts';
import { setLastIds } from './last-ids.ts';
import { migrate } from './migrate.ts';
import { lockProcess } from './process-lock.ts';
import { queryCache } from './query-cache.ts';
import { isOutOfRoom } from './quota.ts';
import { keepReserve } from './reserve-file.ts';
import { findBySqlite } from './search/find.ts';
import { searchThread } from './search/searcher.ts';
import { trackTextChanges } from './search/text-changes.ts';
import { openWriteAheadLog } from './write-ahead-log.ts';
import { writeQueue } from './write-queue.ts';

/**
 * Rewrites and syncs what is in the page cache alone: what we see is what we have. On a full disk, or while a backup
 * reads, some of it stays in the log, which is synced when it is opened.
 */
function copyLog(database: DatabaseSync, file: string): void {
  try {
    pragma(database, 'wal_checkpoint(TRUNCATE)');
  } catch (cause) {
    if (!isOutOfRoom(cause, file)) throw cause;
  }
}

/** The one writing connection, open for the life of the process, with what a killed process left safely in the database. */
function openWriter(file: string) {
  const writer = openConnection(file, { readOnly: false, keepsRows: true });
  const { database } = writer;
  assert.equal(pragma(database, 'journal_mode=WAL'), 'wal');
  database.exec('PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0');
  assert.equal(pragma(database, 'synchronous'), 1);
  copyLog(database, file);
  migrate(database, migrations, (step) => `${file}.before-${step}`, announceSteps);
  return writer;
}

/** Lets nobody else read the database, in a folder that others may read too. By path: a descriptor would drop SQLite's locks. */
function closeToOthers(file: string): void {
  for (const name of [file, `${file}-wal`, `${file}-shm`, `${file}-journal`]) if (existsSync(name)) chmodSync(name, 0o600);
}

const reportDamage = (findings: readonly string[]) =>
  void process.stderr.write(
    `postern.db is damaged: ${findings.join('; ')}. Restore a backup (npm run restore); until then, what lies in other pages is served.\n`,
  );

/**
 * Opens the embedded database in a folder.
 * @param lost called when the disk failed and the outcome of changes is unknown: the process must end unanswered
 * @param searchMemory for words in searches, bytes; without any, all texts are read each time
 * @throws InUse where another process runs on the folder
 */
export function openSqliteStore(folder: string, lost: (cause: unknown) => void, searchMemory = 0): Store {
  const lock = lockProcess(join(folder, 'lock.db'));
  closeToOthers(join(folder, 'lock.db'));
  const reserve = keepReserve(folder);
  const file = join(folder, 'postern.db');
  const events: DiskEvents = { lost, isFull: (cause) => isOutOfRoom(cause, file, reserve.isFull(0)), full: reserve.release };
  const unclean = endedUncleanly(file);
  const writer = openWriter(file);
  closeToOthers(file);
  const reader = openConnection(file, { readOnly: true, keepsRows: true });
  const log = openWriteAheadLog(file, lost);
  const damage = unclean ? checkForDamage(file, reportDamage) : noCheck;
  const unchanged = queryCache();
  const thread = (mostBytes: number) => searchThread({ file, mostBytes }, (cause) => isUnreadable(cause) && lost(cause));
  const searcher = thread(searchMemory);
  const heard = trackTextChanges(writer.database);
  const committed = () => {
    const changed = writer.changed();
    reader.forget(changed);
    unchanged.forget(changed);
    searcher.tell(heard());
  };
  const queue = writeQueue(writer, log, { ...events, committed });
  const [second, reporter] = [thread(0), thread(0)];
  const checkpoints = startCheckpoints(file, { queue, log, searchers: [searcher, second, reporter] }, events);
  // Words are looked for by the first alone: it takes other questions only where the second is busier.
  const askThread: RunQuery = (text, parameters) => (second.waiting() > searcher.waiting() ? searcher : second).ask(text, parameters);
  const search = kyselyWithDriver(sqlite, askThread);
  const longRecords = costTurns(1);
  return {
    read: kyselyWithDriver(sqlite, (text, parameters) => {
      try {
        return reader.run(text, parameters);
      } catch (cause) {
        // A disk that reads no more would answer 500 to everything: the process ends, and the next start looks.
        if (isUnreadable(cause)) lost(cause);
        throw cause;
      }
    }),
    search,
    reports: kyselyWithDriver(sqlite, reporter.ask),
    longRecords: (tid) => kyselyWithDriver(sqlite, (text, parameters) => longRecords(`${tid}`, async () => askThread(text, parameters))),
    searchesOfOneTenant: 1,
    find: findBySqlite(search, searcher),
    dialect: {
      name: 'sqlite',
      isUniqueViolation,
      // Not LIKE, which takes a thousand times as long where a long word nearly matches everywhere.
      holds: (column, word) => sql<SqlBool>`instr(${sql.ref(column)}, ${word}) > 0`,
      now: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
      rowId: 'rowid',
      setLastIds,
    },
    shared: false,
    write: queue.write,
    cachedUntilChange: unchanged.ask,
    durable: queue.sync,
    check: async () => void reader.run('SELECT 1', []),
    isFull: (leaving = 0) => reserve.isFull(leaving),
    identity: async () => folder,
    isUsedByOthers: async () => false, // a second process is refused
    isDamaged: () => damage.findings().length > 0,
    exclusive: inTurns(),
    async [Symbol.asyncDispose]() {
      await queue.close();
      await checkpoints[Symbol.asyncDispose]();
      for (const one of [searcher, second, reporter]) await one[Symbol.asyncDispose]();
      await damage[Symbol.asyncDispose]();
      reader.database.close();
      reserve[Symbol.dispose]();
      await log.close();
      writer.database.close();
      lock[Symbol.dispose]();
    },
  };
}
