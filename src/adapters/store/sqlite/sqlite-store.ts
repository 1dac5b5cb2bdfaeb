import assert from 'node:assert/strict';
import { join } from 'node:path';
import { kyselyOver } from '#adapters/store/kysely-over.ts';
import { migrations } from '#adapters/store/migrations/migrations.ts';
import type { Store } from '#ports/store.ts';
import { startCheckpoints } from './checkpoints.ts';
import { openConnection, pragma } from './connection.ts';
import { isUniqueViolation } from './errors.ts';
import { sqlite } from './language.ts';
import { setLastIds } from './last-ids.ts';
import { migrate } from './migrate.ts';
import { lockProcess } from './process-lock.ts';
import { findBySqlite } from './search/find.ts';
import { searchThread } from './search/searcher.ts';
import { hearTextChanges } from './search/text-changes.ts';
import { unchangedAnswers } from './unchanged.ts';
import { openWriteAheadLog } from './write-ahead-log.ts';
import { writeQueue } from './write-queue.ts';

/** The one writing connection, open for the life of the process, with what a killed process left safely in the database. */
function openWriter(file: string) {
  const writer = openConnection(file, { readOnly: false, keepsRows: true });
  const { database } = writer;
  assert.equal(pragma(database, 'journal_mode=WAL'), 'wal');
  database.exec('PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=0');
  assert.equal(pragma(database, 'synchronous'), 1);
  // Rewrites and syncs what is in the page cache alone: what we see is what we have.
  assert.equal(pragma(database, 'wal_checkpoint(TRUNCATE)'), 0, 'the database is in use');
  migrate(database, migrations, (step) => `${file}.before-${step}`);
  return writer;
}

/**
 * Opens the embedded database in a folder.
 * @param lost called when the disk failed and the outcome of changes is unknown: the process must end unanswered
 * @param searchMemory for words in searches, bytes; without any, all texts are read each time
 * @throws InUse where another process runs on the folder
 */
export function openSqliteStore(folder: string, lost: (cause: unknown) => void, searchMemory = 0): Store {
  const lock = lockProcess(join(folder, 'lock.db'));
  const file = join(folder, 'postern.db');
  const writer = openWriter(file);
  const reader = openConnection(file, { readOnly: true, keepsRows: true });
  const log = openWriteAheadLog(file, lost);
  const unchanged = unchangedAnswers();
  const searcher = searchThread({ file, mostBytes: searchMemory });
  const heard = hearTextChanges(writer.database);
  const committed = () => {
    const changed = writer.changed();
    reader.forget(changed);
    unchanged.forget(changed);
    searcher.tell(heard());
  };
  const queue = writeQueue(writer, log, { lost, committed });
  const checkpoints = startCheckpoints(file, queue, log, lost);
  const search = kyselyOver(sqlite, searcher.ask);
  return {
    read: kyselyOver(sqlite, reader.run),
    search,
    find: findBySqlite(search, searcher),
    dialect: { name: 'sqlite', isUniqueViolation, isIndexed: () => true, setLastIds },
    shared: false,
    write: (change, options = {}) => queue.write(change, options.dryRun ?? false),
    unchanged: unchanged.ask,
    durable: () => queue.drain(),
    check: async () => void reader.run('SELECT 1', []),
    async [Symbol.asyncDispose]() {
      await queue.close();
      await checkpoints[Symbol.asyncDispose]();
      await searcher[Symbol.asyncDispose]();
      reader.database.close();
      await log.close();
      writer.database.close();
      lock[Symbol.dispose]();
    },
  };
}
