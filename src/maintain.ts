// Commands for the person who runs the server: back up, restore, move to PostgreSQL, reset an operator, forget secrets.
import { randomBytes } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { firstTenant } from '#core/records/tenant.ts';
import { backupLines, backupSource, snapshotSource } from '#features/copies/backup-lines.ts';
import { splitLines } from '#features/copies/backup-text.ts';
import { type CopyProgress, fillStore } from '#features/copies/fill-store.ts';
import { resetOperator } from '#features/operators/reset-operator.ts';
import { forgetSecrets, secretsToEnter } from '#features/secrets/forget-secrets.ts';
import type { Snapshot } from '#ports/snapshot.ts';
import type { Store } from '#ports/store.ts';
import { argon2PasswordHash } from './adapters/os/argon2.ts';
import { createFileDurably } from './adapters/os/durable-file.ts';
import { keyVault } from './adapters/os/key-vault.ts';
import { systemClock, systemRandom } from './adapters/os/system.ts';
import { migrations } from './adapters/store/migrations/migrations.ts';
import { openStore } from './adapters/store/open-store.ts';
import { withPostgresSnapshot } from './adapters/store/postgres/postgres-snapshot.ts';
import { withSqliteSnapshot } from './adapters/store/sqlite/sqlite-snapshot.ts';
import { openSqliteStore } from './adapters/store/sqlite/sqlite-store.ts';
import { DataFolder } from './data-folder.ts';
import { readSettings, type Settings } from './settings/settings.ts';

const migrationNames = migrations.map(({ name }) => name);
const progressInterval = 1000; // ms
const suffixBytes = 6;

/** Ends the command with an error when the disk fails. */
const throwCause = (cause: unknown) => {
  throw cause;
};

/** Returns a callback that prints the progress, at most once a second. */
function progressPrinter(): CopyProgress {
  let last = 0;
  return (step, table, rows) => {
    if (performance.now() - last < progressInterval) return;
    last = performance.now();
    process.stderr.write(`${step} ${table}: ${rows.toLocaleString('en')} rows\n`);
  };
}

const withSnapshot = <T>({ databaseUrl, data }: Settings, work: (snapshot: Snapshot) => Promise<T>): Promise<T> =>
  databaseUrl === null ? withSqliteSnapshot(data, work) : withPostgresSnapshot(databaseUrl, work);

/** Names the database that a command uses: without POSTERN_DATA, it can differ from the database of the server. */
const databaseName = ({ databaseUrl, data }: Settings) =>
  databaseUrl === null ? `the embedded database in ${data}` : 'the database of POSTERN_DATABASE_URL';

/**
 * @param names of the settings that say where the database is
 * @throws Error if the command uses the embedded database and there is none: opening it would create one
 */
function checkDatabaseExists({ databaseUrl, data }: Settings, names = 'POSTERN_DATA, or POSTERN_DATABASE_URL,'): void {
  if (databaseUrl === null && !existsSync(join(data, 'postern.db')))
    throw new Error(`there is no database in ${data}: set ${names} to the value that the server has`);
}

async function withStore(settings: Settings, work: (store: Store) => Promise<void>): Promise<void> {
  mkdirSync(settings.data, { recursive: true, mode: 0o700 });
  await using store = await openStore({ databaseUrl: settings.databaseUrl, folder: settings.data, searchMemory: 0 }, throwCause);
  await work(store);
}

/** Writes a backup. The file gets its name only when it is complete and on disk. */
async function backup(settings: Settings, file: string): Promise<void> {
  checkDatabaseExists(settings);
  if (existsSync(file)) throw new Error(`${file} already exists`);
  const part = `${file}.${randomBytes(suffixBytes).toString('hex')}.part`; // a unique name: another backup may be running
  try {
    await withSnapshot(settings, (snapshot) =>
      pipeline(
        Readable.from(backupLines(snapshot, migrationNames, progressPrinter())),
        createGzip(),
        createWriteStream(part, { mode: 0o600, flags: 'wx' }),
      ),
    );
    createFileDurably(part, file);
  } finally {
    rmSync(part, { force: true });
  }
}

/** Returns the decompressed bytes of a file. If the file cannot be read, the returned stream fails. */
function decompress(file: string): AsyncIterable<Uint8Array> {
  const gunzip = createGunzip();
  pipeline(createReadStream(file), gunzip).catch((cause: Error) => gunzip.destroy(cause));
  return gunzip;
}

const restore = (settings: Settings, file: string) =>
  withStore(settings, (store) =>
    fillStore(
      store,
      backupSource(() => splitLines(decompress(file)), migrationNames),
      progressPrinter(),
      { isBackup: true },
    ),
  );

async function moveStore(settings: Settings): Promise<void> {
  if (settings.databaseUrl === null) throw new Error('POSTERN_DATABASE_URL is not set: it must name the database to move to');
  checkDatabaseExists({ ...settings, databaseUrl: null }, 'POSTERN_DATA');
  // Opens the store, although the copy reads only a snapshot: the command then fails if Postern uses the database.
  await using _lockedStore = openSqliteStore(settings.data, throwCause);
  await withSqliteSnapshot(settings.data, (snapshot) =>
    withStore(settings, (store) => {
      // Called before the copy can be used, so that Postern never starts on both databases.
      const beforeUse = () => new DataFolder(settings.data).noteMoved();
      return fillStore(store, snapshotSource(snapshot), progressPrinter(), { isBackup: false, beforeUse });
    }),
  );
}

/**
 * Forgets the secrets that were encrypted with a lost secret key. First lists those that an operator must enter again; without `--yes`, it
 * changes nothing.
 */
async function forgetLostSecrets(settings: Settings, flags: readonly string[]): Promise<void> {
  await withStore(settings, async (store) => {
    const lines = await secretsToEnter(store.read);
    process.stderr.write(`${['You must enter these again after the secrets are forgotten:', ...lines].join('\n  ')}\n`);
    if (!flags.includes('--yes'))
      throw new Error('nothing was changed: add --yes to forget the secrets that were encrypted with the lost key');
    if (await store.isUsedByOthers())
      throw new Error('nothing was changed: other processes use the database and know the old key; stop every Postern that uses it first');
    const key = settings.secretKey ?? new DataFolder(settings.data).secretKey(true);
    await store.write((tx) => forgetSecrets(tx, keyVault(key, systemRandom())), 'job');
  });
}

/** Sets and prints a new password of an operator, and removes their second factors. @param tenant id of the operator's tenant, as typed */
async function resetAccess(settings: Settings, [name, tenant = `${firstTenant}`]: readonly string[]): Promise<void> {
  if (name === undefined) throw new Error('add the name of the operator: npm run operator -- reset NAME');
  const tid = Number(tenant);
  if (!Number.isSafeInteger(tid) || tid < 1) throw new Error(`${JSON.stringify(tenant)} is not the number of a tenant`);
  const ports = { clock: systemClock, random: systemRandom(), passwordHash: argon2PasswordHash() };
  await withStore(settings, async (store) => {
    const password = await resetOperator({ ...ports, store }, tid, name);
    process.stdout.write(`The new password of ${name} is ${password}\nTheir second factors were removed.\n`);
  });
}

async function runOperatorTask(settings: Settings, [task, ...rest]: readonly string[]): Promise<void> {
  checkDatabaseExists(settings);
  if (task === 'reset') return resetAccess(settings, rest);
  if (task === 'forget-secrets') return forgetLostSecrets(settings, rest);
  throw new Error('the tasks are: reset NAME, forget-secrets');
}

const [command, argument, ...flags] = process.argv.slice(2);
try {
  const settings = readSettings(process.env);
  const file = () => {
    if (argument === undefined) throw new Error(`add the name of a file: npm run ${command} -- postern.backup`);
    return resolve(process.env['INIT_CWD'] ?? '.', argument);
  };
  if (command === 'backup') await backup(settings, file());
  else if (command === 'restore') await restore(settings, file());
  else if (command === 'move-store') await moveStore(settings);
  else if (command === 'operator') await runOperatorTask(settings, [argument ?? '', ...flags]);
  else throw new Error('the commands are backup, restore, move-store and operator');
  process.stderr.write(`${command} is complete. It used ${databaseName(settings)}.\n`);
} catch (cause) {
  process.stderr.write(`${command ?? 'maintenance'} failed: ${cause instanceof Error ? cause.message : 'unknown error'}\n`);
  process.exitCode = 1;
}
