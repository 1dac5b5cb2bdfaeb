import { randomBytes } from 'node:crypto';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { writePrivateFile, writePrivateFileOnce } from './adapters/os/durable-file.ts';

const secretBits = 256;
const minSecretLength = 16; // characters

/** Runs work. Ignores the error whose code shows that a concurrent start has already done it. */
function ignoreIfDone(code: 'EEXIST' | 'ENOENT', work: () => void): void {
  try {
    work();
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === code)) throw cause;
  }
}

/**
 * Creates the folder if it does not exist.
 * @throws Error if the folder is not writable: later failures would not name the cause
 */
function ensureWritable(path: string): void {
  try {
    // A recursive mkdir never returns if the parent answers ENOENT to new names, as /proc does.
    const recursive = !existsSync(dirname(path));
    if (!existsSync(path)) ignoreIfDone('EEXIST', () => mkdirSync(path, { recursive, mode: 0o700 }));
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    throw new Error(
      `POSTERN_DATA (${path}) is not writable: ${code}. Give the user that runs Postern write access to it, or set POSTERN_DATA to another folder`,
      {
        cause,
      },
    );
  }
}

/** The files of POSTERN_DATA, and the checks on them. */
export class DataFolder {
  readonly path: string;
  readonly #secretFile: string;
  readonly #database: string;
  readonly #movedMarker: string;

  /** Creates the folder if it does not exist. @throws Error if the folder is not writable */
  constructor(path: string) {
    ensureWritable(path);
    this.path = path;
    this.#secretFile = join(path, 'secret-key');
    this.#database = join(path, 'postern.db');
    this.#movedMarker = join(path, 'moved-to-postgresql');
  }

  get files(): string {
    return join(this.path, 'files');
  }

  get firstKeyFile(): string {
    return join(this.path, 'first-key');
  }

  /**
   * Refuses to create a new database if the installation has lost its own. The database is created before the secret key, so a
   * secret key without a database means that the database was lost.
   * @throws Error if the database is missing or empty although the secret key exists, or if it was moved to a server
   */
  checkDatabase(): void {
    const database = this.#database;
    if (existsSync(this.#movedMarker))
      throw new Error(
        `the database of POSTERN_DATA was moved to PostgreSQL: set POSTERN_DATABASE_URL, or delete the file ${this.#movedMarker} to use the old one again`,
      );
    const bytes = statSync(database, { throwIfNoEntry: false })?.size ?? 0;
    if (bytes === 0 && this.#hasKey())
      throw new Error(
        `${database} is ${existsSync(database) ? 'empty' : 'missing'}, but the file secret-key exists: put the database back, or restore a backup with npm run restore. To start with an empty database, move secret-key away`,
      );
  }

  /**
   * Refuses to start with an empty database on a server while there is an embedded database that was not moved.
   * @throws Error if there is such a database
   */
  checkMoved(): void {
    if (existsSync(this.#database) && !existsSync(this.#movedMarker))
      throw new Error(
        `POSTERN_DATABASE_URL names an empty database, but ${this.#database} exists: copy it with npm run move-store. To start with an empty database, move postern.db away`,
      );
  }

  /** Records in a file that the embedded database is no longer in use. */
  noteMoved(): void {
    const text = 'npm run move-store has copied postern.db to POSTERN_DATABASE_URL. Delete this file to use postern.db again.\n';
    writePrivateFile(this.#movedMarker, text);
  }

  /**
   * Returns the key that encrypts secrets. The first start creates it.
   * @param isNew whether the database holds no secrets. If it holds secrets, no new key is created
   * @throws Error if the database holds secrets and the key is missing, or if the key is too short
   */
  secretKey(isNew: boolean): string {
    if (!this.#hasKey()) {
      if (!isNew)
        throw new Error(
          `the file ${this.#secretFile} is missing or empty: restore it from your copy, or set POSTERN_SECRET_KEY. If it is lost, npm run operator -- forget-secrets lists the secrets that you must enter again`,
        );
      if (statSync(this.#secretFile, { throwIfNoEntry: false })?.size === 0) rmSync(this.#secretFile, { force: true });
      writePrivateFileOnce(this.#secretFile, randomBytes(secretBits / 8).toString('base64url'));
    }
    const key = readFileSync(this.#secretFile, 'utf8').trim();
    if (key.length < minSecretLength)
      throw new Error('the file secret-key in POSTERN_DATA does not contain a key: restore it from your copy');
    return key;
  }

  /**
   * Stores the first API key in a file before the database accepts it. Otherwise, a crash could leave an installation whose key nobody
   * knows. Each of several concurrent starts stages its own key.
   */
  stageFirstKey(key: string): void {
    writePrivateFile(join(this.path, `first-key-${randomBytes(8).toString('hex')}`), `${key}\n`);
  }

  /**
   * Renames the file with the staged key that the database accepts. Its new name is `first-key`. Deletes the staged keys of other starts.
   * @param isActiveKey returns whether the database accepts a key; if its promise rejects, the key stays staged
   */
  async publishFirstKey(isActiveKey: (key: string) => Promise<boolean>): Promise<void> {
    for (const name of readdirSync(this.path).filter((entry) => /^first-key-[0-9a-f]{16}$/.test(entry))) {
      const file = join(this.path, name);
      let key = '';
      ignoreIfDone('ENOENT', () => {
        key = readFileSync(file, 'utf8').trim();
      });
      const isAccepted = await isActiveKey(key).catch(() => null);
      if (isAccepted === false) rmSync(file, { force: true });
      else if (isAccepted) ignoreIfDone('ENOENT', () => renameSync(file, this.firstKeyFile)); // ENOENT: another start has renamed it
    }
  }

  /** Creates the folder of the first location, with a first file, so that there is something to share. */
  createWelcomeFile(): void {
    mkdirSync(this.files, { recursive: true });
    const text = 'Welcome to Postern.\n\nThis folder is the location "local". What you put here can be shared by link.\n';
    ignoreIfDone('EEXIST', () => writeFileSync(join(this.files, 'welcome.txt'), text, { flag: 'wx' }));
  }

  #hasKey(): boolean {
    return existsSync(this.#secretFile) && readFileSync(this.#secretFile, 'utf8').trim() !== '';
  }
}
