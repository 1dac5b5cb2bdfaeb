// What an operator does with the database beside Postern: back it up, restore it, move it to PostgreSQL.
import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, mkdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { backupLines, backupSource, snapshotSource } from '#features/copies/backup-lines.ts';
import { linesOf } from '#features/copies/backup-text.ts';
import { fillStore, type Progress } from '#features/copies/fill-store.ts';
import { forgetSecrets, secretsToEnter } from '#features/secrets/forget-secrets.ts';
import type { Snapshot } from '#ports/snapshot.ts';
import type { Store } from '#ports/store.ts';
import { putInFreePlace } from './adapters/os/durable-file.ts';
import { keyVault } from './adapters/os/key-vault.ts';
import { migrations } from './adapters/store/migrations/migrations.ts';
import { openStore } from './adapters/store/open-store.ts';
import { withPostgresSnapshot } from './adapters/store/postgres/postgres-snapshot.ts';
import { withSqliteSnapshot } from './adapters/store/sqlite/sqlite-snapshot.ts';
import { openSqliteStore } from './adapters/store/sqlite/sqlite-store.ts';
import { dataFolder } from './data-folder.ts';
import { readSettings, type Settings } from './settings.ts';

const names = migrations.map(({ name }) => name);
const toldEvery = 1000; // ms
const partBytes = 6;

/** The disk failed: nothing more can be relied upon. */
const lost = (cause: unknown) => {
  throw cause;
};

/** Says how far it is, at most once a second. */
function telling(): Progress {
  let last = 0;
  return (step, table, rows) => {
    if (performance.now() - last < toldEvery) return;
    last = performance.now();
    process.stderr.write(`${step} ${table}: ${rows.toLocaleString('en')} rows\n`);
  };
}

const withSnapshot = <T>({ databaseUrl, data }: Settings, work: (snapshot: Snapshot) => Promise<T>): Promise<T> =>
  databaseUrl === null ? withSqliteSnapshot(data, work) : withPostgresSnapshot(databaseUrl, work);

async function withStore(settings: Settings, work: (store: Store) => Promise<void>): Promise<void> {
  mkdirSync(settings.data, { recursive: true, mode: 0o700 });
  await using store = await openStore({ databaseUrl: settings.databaseUrl, folder: settings.data, searchMemory: 0 }, lost);
  await work(store);
}

/** Nothing is called a backup that is not whole and on disk. */
async function backup(settings: Settings, file: string): Promise<void> {
  if (existsSync(file)) throw new Error(`${file} is there already`);
  const part = `${file}.${randomBytes(partBytes).toString('hex')}.part`; // of its own: another backup may be under way
  try {
    await withSnapshot(settings, (snapshot) =>
      pipeline(Readable.from(backupLines(snapshot, names, telling())), createGzip(), createWriteStream(part, { mode: 0o600, flags: 'wx' })),
    );
    putInFreePlace(part, file);
  } finally {
    rmSync(part, { force: true });
  }
}

/** The unpacked bytes of a file. An error of the file becomes an error of the returned stream. */
function unpacked(file: string): AsyncIterable<Uint8Array> {
  const gunzip = createGunzip();
  pipeline(createReadStream(file), gunzip).catch((cause: Error) => gunzip.destroy(cause));
  return gunzip;
}

const restore = (settings: Settings, file: string) =>
  withStore(settings, (store) =>
    fillStore(
      store,
      backupSource(() => linesOf(unpacked(file)), names),
      telling(),
    ),
  );

async function moveStore(settings: Settings): Promise<void> {
  if (settings.databaseUrl === null) throw new Error('POSTERN_DATABASE_URL names no database to move to');
  // Its own store, not only a reader: while Postern runs on it, it is refused.
  await using _running = openSqliteStore(settings.data, lost);
  await withSqliteSnapshot(settings.data, (snapshot) =>
    withStore(settings, (store) => fillStore(store, snapshotSource(snapshot), telling())),
  );
  dataFolder(settings.data).noteMoved();
}

/** What an operator does who has lost the key: first without `--yes`, to see what it will cost. */
async function operate(settings: Settings, [task, ...flags]: readonly string[]): Promise<void> {
  if (task !== 'forget-secrets') throw new Error('the tasks are: forget-secrets');
  await withStore(settings, async (store) => {
    const lines = await secretsToEnter(store.read);
    process.stderr.write(`${['These must be entered anew once the secrets are forgotten:', ...lines].join('\n  ')}\n`);
    if (!flags.includes('--yes')) throw new Error('nothing was changed: add --yes to forget the secrets that the lost key sealed');
    const key = settings.secretKey ?? dataFolder(settings.data).secretKey(true);
    await store.write((tx) => forgetSecrets(tx, keyVault(key)), 'job');
  });
}

const [command, argument, ...more] = process.argv.slice(2);
try {
  const settings = readSettings(process.env);
  const file = () => {
    if (argument === undefined) throw new Error(`name a file: npm run ${command} -- postern.backup`);
    return resolve(process.env['INIT_CWD'] ?? '.', argument);
  };
  if (command === 'backup') await backup(settings, file());
  else if (command === 'restore') await restore(settings, file());
  else if (command === 'move-store') await moveStore(settings);
  else if (command === 'operator') await operate(settings, [argument ?? '', ...more]);
  else throw new Error('the commands are backup, restore, move-store and operator');
  process.stderr.write(`${command} is done.\n`);
} catch (cause) {
  process.stderr.write(
    `${command ?? 'maintenance'} did not come to its end: ${cause instanceof Error ? cause.message : 'unknown error'}\n`,
  );
  process.exitCode = 1;
}
