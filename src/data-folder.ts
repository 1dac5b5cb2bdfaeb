import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const secretBits = 256;
const shortestSecret = 16; // characters
const ownerOnly = 0o600;

/** Writes a file that nobody else may read, on disk for good. */
function writeSecret(file: string, text: string): void {
  const whole = `${file}.new`;
  const descriptor = openSync(whole, 'w', ownerOnly);
  writeFileSync(descriptor, text);
  fsyncSync(descriptor);
  closeSync(descriptor);
  renameSync(whole, file); // a crash leaves all of it or nothing
  const folder = openSync(dirname(file), 'r');
  fsyncSync(folder);
  closeSync(folder);
}

/** What lies in POSTERN_DATA. */
export function dataFolder(path: string) {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  return {
    path,
    files: join(path, 'files'),
    firstKeyFile: join(path, 'first-key'),
    /** The key that seals secrets: made at the first start. */
    secretKey(): string {
      const file = join(path, 'secret-key');
      // An empty one was left by a crash of the very first start: nothing has been sealed yet.
      const isNew = !existsSync(join(path, 'postern.db'));
      if (!existsSync(file) || (isNew && readFileSync(file, 'utf8').trim() === ''))
        writeSecret(file, randomBytes(secretBits / 8).toString('base64url'));
      const key = readFileSync(file, 'utf8').trim();
      if (key.length < shortestSecret) throw new Error('the file secret-key in POSTERN_DATA holds no key: put back the one that was there');
      return key;
    },
    /** Before the key is good: a crash in between leaves no installation without one. */
    keepFirstKey: (key: string) => writeSecret(join(path, 'first-key'), `${key}\n`),
    welcome(): void {
      mkdirSync(join(path, 'files'), { recursive: true });
      writeFileSync(
        join(path, 'files', 'welcome.txt'),
        'Welcome to Postern.\n\nThis folder is the location "local". What you put here can be shared by link.\n',
        { flag: 'wx' },
      );
    },
  };
}
