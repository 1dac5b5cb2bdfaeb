import { join } from 'node:path';
import { type SqlBool, sql } from 'kysely';
import { fairScheduler } from '#adapters/os/fair-scheduler.ts';
import { multiKeyMutex } from '#adapters/store/keyed-mutex.ts';
import { kyselyWithDriver, type RunQuery } from '#adapters/store/kysely-driver.ts';
import type { Store } from '#ports/store.ts';
import { startCheckpoints } from './checkpoints.ts';
import { type Connection, openConnection } from './connection.ts';
import { checkForDamage, hasUnfinishedLog, skippedDamageCheck } from './damage-check.ts';
import type { DiskEvents } from './disk-events.ts';
import { isReadFailure, isSqliteUniqueViolation } from './errors.ts';
import { setSqliteLastIds } from './last-ids.ts';
import { LookupCache } from './lookup-cache.ts';
import { openWriter, restrictAccess } from './open-writer.ts';
import { isOutOfSpace } from './out-of-space.ts';
import { lockProcess } from './process-lock.ts';
import { openReserveFile } from './reserve-file.ts';
import { sqliteSearch } from './search/find.ts';
import { createSearchThreads, type SearchThreads } from './search/search-threads.ts';
import { trackTextChanges } from './search/text-changes.ts';
import { sqliteDialect } from './sql-dialect.ts';
import { openWriteAheadLog } from './write-ahead-log.ts';
import { WriteQueue } from './write-queue.ts';

const reportDamage = (findings: readonly string[]) =>
  void process.stderr.write(
    `postern.db is damaged: ${findings.join('; ')}. Restore a backup (npm run restore). Until then, Postern serves the records that it can still read.\n`,
  );

const dialect: Store['dialect'] = {
  name: 'sqlite',
  isUniqueViolation: isSqliteUniqueViolation,
  // Not LIKE, which takes a thousand times as long if a long word almost matches at every position.
  containsWord: (column, word) => sql<SqlBool>`instr(${sql.ref(column)}, ${word}) > 0`,
  now: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
  rowId: 'rowid',
  setLastIds: setSqliteLastIds,
};

/** Returns a function that runs a query on the event loop. If the disk cannot be read, the process ends: every request would fail. */
const runOn =
  (reader: Connection, onLost: (cause: unknown) => void): RunQuery =>
  (text, parameters) => {
    try {
      return reader.run(text, parameters);
    } catch (cause) {
      if (isReadFailure(cause)) onLost(cause);
      throw cause;
    }
  };

/** Returns the parts of a store for reads. Each query notes the tables that it reads, for results that are cached until a change. */
function readingParts(reader: Connection, threads: SearchThreads, lookups: LookupCache, onLost: (cause: unknown) => void) {
  const readBy = (run: RunQuery) =>
    kyselyWithDriver(sqliteDialect, (text, parameters) => {
      lookups.noteReads(() => reader.tablesRead(text));
      return run(text, parameters);
    });
  const search = readBy(threads.run);
  const runInTurn = fairScheduler(1);
  return {
    read: readBy(runOn(reader, onLost)),
    search,
    reports: readBy(threads.reports.query),
    longRecordReader: (tid: number) => readBy((text, parameters) => runInTurn(`${tid}`, async () => threads.run(text, parameters))),
    searchPage: sqliteSearch(search, readBy(threads.runLong), threads.words),
  };
}

/**
 * Opens the SQLite database in a folder.
 * @param onLost called when the disk failed, so that the outcome of changes may be unknown: the process must end without another response
 * @param searchMemory bytes for the texts that word searches read; 0: each search reads them from the database
 * @throws InstallationInUse if another process uses the folder; Error if the database is newer than this program
 */
export function openSqliteStore(folder: string, onLost: (cause: unknown) => void, searchMemory = 0): Store {
  const lock = lockProcess(join(folder, 'lock.db'));
  restrictAccess(join(folder, 'lock.db'));
  const reserve = openReserveFile(folder);
  const file = join(folder, 'postern.db');
  const events: DiskEvents = { onLost, isOutOfSpace: (cause) => isOutOfSpace(cause, file, reserve.isFull(0)), freeSpace: reserve.release };
  const needsCheck = hasUnfinishedLog(file);
  const writer = openWriter(file);
  restrictAccess(file);
  const reader = openConnection(file, { readOnly: true });
  const log = openWriteAheadLog(file, onLost);
  const damageCheck = needsCheck ? checkForDamage(file, reportDamage) : skippedDamageCheck;
  const lookups = new LookupCache();
  const threads = createSearchThreads(file, searchMemory, (cause) => isReadFailure(cause) && onLost(cause));
  const takeTextChanges = trackTextChanges(writer.database);
  const onCommit = () => {
    lookups.noteChanges(writer.takeChangedTables());
    threads.words.applyChanges(takeTextChanges());
  };
  const queue = new WriteQueue(writer, log, { ...events, onCommit });
  const checkpoints = startCheckpoints(file, { queue, log, searchers: threads.all }, events);
  return {
    ...readingParts(reader, threads, lookups, onLost),
    dialect,
    maxSearchesPerTenant: 1,
    isShared: false,
    write: (change, turn, options) => queue.write(change, turn, options),
    inOwnTurns: (work) => work(),
    cachedUntilChange: (key, query) => lookups.get(key, query),
    sync: () => queue.sync(),
    check: async () => void reader.run('SELECT 1', []),
    isFull: (minFree = 0) => reserve.isFull(minFree),
    databaseId: async () => folder,
    isUsedByOthers: async () => false, // a second process is refused
    isDamaged: () => damageCheck.findings().length > 0,
    withLocks: multiKeyMutex(),
    async [Symbol.asyncDispose]() {
      await queue.close();
      await checkpoints[Symbol.asyncDispose]();
      for (const thread of threads.all) await thread[Symbol.asyncDispose]();
      await damageCheck[Symbol.asyncDispose]();
      reader.database.close();
      reserve[Symbol.dispose]();
      await log.close();
      writer.database.close();
      lock[Symbol.dispose]();
    },
  };
}
