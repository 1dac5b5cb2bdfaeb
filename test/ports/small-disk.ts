import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { atEnd } from '../parts/at-end.ts';

/** Returns the mount points at or below a folder, the newest first. */
const mountsBelow = (folder: string) =>
  readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((mountPoint) => `${mountPoint}/`.startsWith(`${folder}/`))
    .reverse();

/** Unmounts every file system at or below a folder, even if its mount point was moved. */
export function unmount(folder: string): void {
  for (const mountPoint of mountsBelow(folder)) execFileSync('umount', ['-l', mountPoint]);
}

/** Creates a folder for mounts. After the test, all mounts in the folder are removed, and the folder is deleted. */
export function createMountFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'postern-disk-'));
  atEnd(t, () => {
    unmount(folder);
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

function tryMount(t: TestContext, folder: string, parameters: readonly string[]): boolean {
  mkdirSync(folder, { recursive: true });
  try {
    execFileSync('mount', [...parameters, folder], { stdio: 'ignore' });
    return true;
  } catch {
    t.skip('mounting is not permitted');
    return false;
  }
}

/** Mounts a tmpfs at a folder. @returns false (and skips the test) if mounting is not permitted */
export const mountAt = (t: TestContext, folder: string, options: string) => tryMount(t, folder, ['-t', 'tmpfs', '-o', options, 'tmpfs']);

/**
 * Mounts an ext4 file system of the given size. In ext4, the names in a folder take up space on the disk.
 * @returns false (and skips the test) if mounting is not permitted, or mkfs.ext4 is not installed
 */
export function mountExt4At(t: TestContext, folder: string, bytes: number): boolean {
  const image = `${folder}.img`;
  writeFileSync(image, '');
  truncateSync(image, bytes);
  const isFormatted = spawnSync('mkfs.ext4', ['-q', '-m', '0', '-b', '1024', image]).status === 0;
  if (!isFormatted) t.skip('mkfs.ext4 is not installed');
  return isFormatted && tryMount(t, folder, ['-o', 'loop', image]);
}

/** Bind-mounts the folder `from` at another folder. @returns false (and skips the test) if mounting is not permitted */
export const bindMountAt = (t: TestContext, folder: string, from: string) => tryMount(t, folder, ['--bind', from]);

/** Mounts a small tmpfs and removes it after the test. @returns its folder, or null (and skips the test) if mounting is not permitted */
export function mountSmallDisk(t: TestContext, options: string): string | null {
  const folder = join(createMountFolder(t), 'disk');
  return mountAt(t, folder, options) ? folder : null;
}
