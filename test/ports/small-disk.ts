import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { atEnd } from '../parts/at-end.ts';

/** Where file systems are mounted at or below a folder, innermost first. */
const mountsBelow = (folder: string) =>
  readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((place) => `${place}/`.startsWith(`${folder}/`))
    .reverse();

/** Takes off every disk that was mounted at or below a folder, wherever it was moved since. */
export function unmount(folder: string): void {
  for (const place of mountsBelow(folder)) execFileSync('umount', ['-l', place]);
}

/** A folder in which disks may be mounted, gone after the test with all of them. */
export function folderForDisks(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'postern-disk-'));
  atEnd(t, () => {
    unmount(folder);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

function mounted(t: TestContext, folder: string, parameters: readonly string[]): boolean {
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync('mount', [...parameters, folder], { stdio: 'ignore' });
    return true;
  } catch {
    t.skip('mounting a small disk needs root');
    return false;
  }
}

/** Mounts a file system of its own at a folder; false (and the test is skipped) where this machine does not let us. */
export const mountAt = (t: TestContext, folder: string, options: string) => mounted(t, folder, ['-t', 'tmpfs', '-o', options, 'tmpfs']);

/** Mounts an ext4 of so many bytes, whose folders need room for the names in them; false as above. */
export function mountExt4At(t: TestContext, folder: string, bytes: number): boolean {
  const image = `${folder}.img`;
  writeFileSync(image, '');
  truncateSync(image, bytes);
  const made = spawnSync('mkfs.ext4', ['-q', '-m', '0', '-b', '1024', image]).status === 0;
  if (!made) t.skip('mkfs.ext4 is not installed');
  return made && mounted(t, folder, ['-o', 'loop', image]);
}

/** Binds a folder of the same file system at another; false as above. */
export const bindAt = (t: TestContext, folder: string, from: string) => mounted(t, folder, ['--bind', from]);

/** A disk with the room that `options` give it (as mount takes them), gone after the test. */
export function smallDisk(t: TestContext, options: string): string | null {
  const folder = join(folderForDisks(t), 'disk');
  return mountAt(t, folder, options) ? folder : null;
}
