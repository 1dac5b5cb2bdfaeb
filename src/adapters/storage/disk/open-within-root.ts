import fs from 'node:fs';
import { errorWithCode, systemErrorCode } from './disk-errors.ts';

const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY } = fs.constants;
const O_PATH = 0x200000; // Linux; not in fs.constants
const procfsType = 0x9fa0; // magic number of procfs in statfs(2)

// The functions here that make system calls block until the disk responds: they run in threads, never on the event loop.

/** Returns a path to the file or folder of an open descriptor, or to a name in that folder. A rename of the folder does not redirect it. */
export const descriptorPath = (descriptor: number, name = '') => `/proc/self/fd/${descriptor}${name && `/${name}`}`;

/** A folder outside of which nothing may be opened. Its descriptor stays open. */
export interface StorageRoot {
  readonly path: string;
  readonly descriptor: number;
  /** The mount that contained the folder when it was opened. */
  readonly mount: string;
}

/** Returns a text that identifies the mount of an open folder: its device, which also differs between subvolumes, and its mount id. */
export function mountOf(descriptor: number): string {
  const id = /^mnt_id:\s*(\d+)$/m.exec(fs.readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1];
  return `${fs.fstatSync(descriptor).dev} ${id}`;
}

/**
 * Opens a root. The given path may be a symbolic link: it is resolved once, here.
 * @throws EROOT if the path is `/`, or another file system than procfs is mounted at `/proc`
 * @throws ENOENT or ENOTDIR if the path is not a folder, or `/proc` is empty
 */
export function openRoot(configuredPath: string): StorageRoot {
  const path = fs.realpathSync.native(configuredPath);
  if (path === '/' || fs.statfsSync('/proc/self/fd/').type !== procfsType) throw errorWithCode('EROOT');
  const descriptor = fs.openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  return { path, descriptor, mount: mountOf(descriptor) };
}

const isSameFile = (one: fs.Stats, other: fs.Stats) => one.ino === other.ino && one.dev === other.dev;

/** Returns whether the root's path still leads to the folder that was opened: false after an unmount or a removal. */
export function isRootPresent(root: StorageRoot): boolean {
  try {
    return isSameFile(fs.fstatSync(root.descriptor), fs.statSync(root.path));
  } catch {
    return false;
  }
}

const isBadName = (name: string) => name === '' || name === '.' || name === '..' || /[/\0]/.test(name) || !name.isWellFormed();

/** Opens a path segment by segment and follows no link. The result is correct even while other processes rename folders. */
function walk(root: StorageRoot, segments: readonly string[]): number {
  let folder = root.descriptor;
  for (const [index, segment] of segments.entries()) {
    const flags = O_PATH | O_NOFOLLOW | (index === segments.length - 1 ? 0 : O_DIRECTORY);
    try {
      const next = fs.openSync(descriptorPath(folder, segment), flags);
      if (folder !== root.descriptor) fs.closeSync(folder);
      folder = next;
    } catch (cause) {
      if (folder !== root.descriptor) fs.closeSync(folder);
      throw cause;
    }
  }
  return folder;
}

/** Returns whether the descriptor's real path is the given path. */
function isExactly(descriptor: number, path: string): boolean {
  try {
    return fs.readlinkSync(descriptorPath(descriptor)) === path;
  } catch {
    return false; // the path is too long for readlink, so the caller uses `walk`
  }
}

/**
 * Returns an O_PATH descriptor for exactly root/segments; the caller closes it. Opening with O_PATH has no effect on a device or pipe. If
 * the real path of the descriptor is another one, or a path is too long for the system, `walk` opens the path segment by segment.
 */
export function openPathWithinRoot(root: StorageRoot, segments: readonly string[]): number {
  if (segments.some(isBadName)) throw errorWithCode('EINVAL');
  if (segments.length === 0) return fs.openSync(`${descriptorPath(root.descriptor)}/.`, O_PATH | O_DIRECTORY);
  const relativePath = segments.join('/');
  try {
    const pathDescriptor = fs.openSync(descriptorPath(root.descriptor, relativePath), O_PATH | O_NOFOLLOW);
    if (isExactly(pathDescriptor, `${root.path}/${relativePath}`)) return pathDescriptor;
    fs.closeSync(pathDescriptor);
  } catch (cause) {
    if (systemErrorCode(cause) !== 'ENAMETOOLONG') throw cause;
  }
  return walk(root, segments);
}

/** Opens the file or folder of a descriptor from `openPathWithinRoot`. It is the same inode: no name is looked up again. */
export const reopen = (pathDescriptor: number, flags: number = O_RDONLY) => fs.openSync(descriptorPath(pathDescriptor), flags);

/**
 * Opens a folder within the root so that entries can be created in it and it can be synced. Follows no symbolic link.
 * @throws ENOTDIR if the path leads to a file, ELOOP if it leads to a symbolic link, a device or a pipe
 */
export function openFolder(root: StorageRoot, segments: readonly string[]): number {
  const pathDescriptor = openPathWithinRoot(root, segments);
  try {
    const stat = fs.fstatSync(pathDescriptor);
    if (!stat.isFile() && !stat.isDirectory()) throw errorWithCode('ELOOP');
    return reopen(pathDescriptor, O_RDONLY | O_DIRECTORY);
  } finally {
    fs.closeSync(pathDescriptor);
  }
}

/** Opens a folder, runs `work` on its descriptor, and closes it. */
export function withFolder<T>(root: StorageRoot, segments: readonly string[], work: (descriptor: number) => T): T {
  const descriptor = openFolder(root, segments);
  try {
    return work(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Opens a file that `createFile` has created, for reading and writing. @throws ENOENT */
export const openCreatedFile = (folder: number, name: string) =>
  fs.openSync(descriptorPath(folder, name), O_NOFOLLOW | fs.constants.O_RDWR);

/** Creates a file and opens it for writing. @throws EEXIST if the name is taken */
export const createFile = (folder: number, name: string, mode: number) =>
  fs.openSync(descriptorPath(folder, name), O_CREAT | O_EXCL | O_NOFOLLOW | fs.constants.O_WRONLY, mode);
