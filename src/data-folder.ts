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
import { writeFirstOwnFile, writeOwnFile } from './adapters/os/durable-file.ts';

const secretBits = 256;
const shortestSecret = 16; // characters

/** Makes the folder where it is not there. @throws where nothing can be written in it: everything later would fail in other words */
function makeWritable(path: string): void {
  try {
    // Where a parent refuses new names with ENOENT, as /proc does, a recursive mkdir never comes to its end.
    if (!existsSync(path)) mkdirSync(path, { recursive: !existsSync(dirname(path)), mode: 0o700 });
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown error';
    throw new Error(`POSTERN_DATA (${path}) cannot be written: ${code}. Give the user that runs Postern this folder, or name another`, {
      cause,
    });
  }
}

/** Runs what another start at the same moment may have done already, as the code of its error tells. */
function unlessDone(code: 'EEXIST' | 'ENOENT', work: () => void): void {
  try {
    work();
  } catch (cause) {
    if (!(cause instanceof Error && 'code' in cause && cause.code === code)) throw cause;
  }
}

/** What lies in POSTERN_DATA. */
export function dataFolder(path: string) {
  makeWritable(path);
  const [secretFile, database, moved] = [join(path, 'secret-key'), join(path, 'postern.db'), join(path, 'moved-to-postgresql')];
  const hasKey = () => existsSync(secretFile) && readFileSync(secretFile, 'utf8').trim() !== '';
  return {
    path,
    files: join(path, 'files'),
    firstKeyFile: join(path, 'first-key'),
    /**
     * Refuses to begin anew where there was an installation: the embedded database is made before the key, so that a key
     * without a database is what is left of one.
     * @throws where the database is missing, empty, or was moved to a server
     */
    checkDatabase(): void {
      if (existsSync(moved))
        throw new Error(
          `the database of POSTERN_DATA was moved to PostgreSQL: set POSTERN_DATABASE_URL, or delete the file ${moved} to use the old one again`,
        );
      const bytes = statSync(database, { throwIfNoEntry: false })?.size ?? 0;
      if (bytes === 0 && hasKey())
        throw new Error(
          `${database} is ${existsSync(database) ? 'empty' : 'missing'}, but there is a secret-key beside it: put the database back, or run npm run restore with a backup; to begin anew, move secret-key away`,
        );
    },
    /**
     * Refuses to begin anew on a server while there is an embedded database: its move was forgotten, or broke off.
     * @throws where there is one
     */
    checkMoved(): void {
      if (existsSync(database) && !existsSync(moved))
        throw new Error(
          `POSTERN_DATABASE_URL names an empty database, but ${database} is still there: run npm run move-store to copy it; to begin anew, move it away`,
        );
    },
    /** Says that the embedded database is no longer the one in use. */
    noteMoved: () =>
      writeOwnFile(moved, 'npm run move-store has copied postern.db to POSTERN_DATABASE_URL. Delete this file to use postern.db again.\n'),
    /**
     * The key that seals secrets: made at the first start.
     * @param isNew whether the database holds no secrets: no new key is ever written beside an old database
     */
    secretKey(isNew: boolean): string {
      if (!hasKey()) {
        if (!isNew)
          throw new Error(
            `the file ${secretFile} is missing or empty: put it back from where you keep it, or set POSTERN_SECRET_KEY; if it is lost for good, npm run operator -- forget-secrets tells which secrets must be entered anew`,
          );
        if (statSync(secretFile, { throwIfNoEntry: false })?.size === 0) rmSync(secretFile, { force: true });
        writeFirstOwnFile(secretFile, randomBytes(secretBits / 8).toString('base64url'));
      }
      const key = readFileSync(secretFile, 'utf8').trim();
      if (key.length < shortestSecret) throw new Error('the file secret-key in POSTERN_DATA holds no key: put back the one that was there');
      return key;
    },
    /** Keeps a key before it is good, so that a crash leaves no installation without one. Several starts may do so at once. */
    stageFirstKey: (key: string) => writeOwnFile(join(path, `first-key-${randomBytes(8).toString('hex')}`), `${key}\n`),
    /** Keeps the staged key that the database knows as `first-key`, and removes those of starts that came too late. */
    async settleFirstKeys(isKnown: (key: string) => Promise<boolean>): Promise<void> {
      for (const name of readdirSync(path).filter((entry) => /^first-key-[0-9a-f]{16}$/.test(entry))) {
        const file = join(path, name);
        let key = '';
        unlessDone('ENOENT', () => {
          key = readFileSync(file, 'utf8').trim();
        });
        const known = await isKnown(key).catch(() => null);
        if (known === false) rmSync(file, { force: true });
        else if (known) unlessDone('ENOENT', () => renameSync(file, join(path, 'first-key'))); // another start did it
      }
    },
    welcome(): void {
      mkdirSync(join(path, 'files'), { recursive: true });
      const text = 'Welcome to Postern.\n\nThis folder is the location "local". What you put here can be shared by link.\n';
      unlessDone('EEXIST', () => writeFileSync(join(path, 'files', 'welcome.txt'), text, { flag: 'wx' }));
    },
  };
}
