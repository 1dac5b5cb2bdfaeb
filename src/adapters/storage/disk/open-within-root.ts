import fs from 'node:fs';
import { promisify } from 'node:util';
import { errorWithCode, systemErrorCode } from './disk-errors.ts';

const open = promisify(fs.open);
const fstat = promisify(fs.fstat);
const stat = promisify(fs.stat);
const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY } = fs.constants;
const O_PATH = 0x200000; // Linux; not in fs.constants
const procfsType = 0x9fa0; // magic number of procfs in statfs(2)

/** Returns a path to the file or folder of an open descriptor, or to a name in that folder. No rename can redirect it. */
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
 * @throws EROOT if the path is `/`, or procfs is missing
 * @throws ENOENT or ENOTDIR if the path is not a folder
 */
export function openRoot(configuredPath: string): StorageRoot {
  const path = fs.realpathSync.native(configuredPath);
  if (path === '/' || fs.statfsSync('/proc/self/fd/').type !== procfsType) throw errorWithCode('EROOT');
  const descriptor = fs.openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  return { path, descriptor, mount: mountOf(descriptor) };
}

const isSameFile = (one: fs.Stats, other: fs.Stats) => one.ino === other.ino && one.dev === other.dev;

/** Returns whether the root's path still leads to the folder that was opened. It does not after an unmount or a removal. */
export async function isRootPresent(root: StorageRoot): Promise<boolean> {
  try {
    return isSameFile(...(await Promise.all([fstat(root.descriptor), stat(root.path)])));
  } catch {
    return false;
  }
}

/** Returns the same synchronously, for a thread that may block. */
export function isRootPresentSync(root: StorageRoot): boolean {
  try {
    return isSameFile(fs.fstatSync(root.descriptor), fs.statSync(root.path));
  } catch {
    return false;
  }
}

const isBadName = (name: string) => name === '' || name === '.' || name === '..' || /[/\0]/.test(name) || !name.isWellFormed();

/** Opens a path segment by segment and follows no link. The result is correct even while other processes rename folders. */
async function walk(root: StorageRoot, segments: readonly string[], flags: number): Promise<number> {
  let folder = root.descriptor;
  for (const [index, segment] of segments.entries()) {
    const isLast = index === segments.length - 1;
    try {
      const next = await open(descriptorPath(folder, segment), isLast ? flags : O_PATH | O_DIRECTORY | O_NOFOLLOW);
      if (folder !== root.descriptor) fs.closeSync(folder);
      folder = next;
    } catch (cause) {
      if (folder !== root.descriptor) fs.closeSync(folder);
      throw cause;
    }
  }
  return folder;
}

/**
 * Opens exactly root/segments with O_PATH, which has no effect on devices and pipes. The kernel then returns the real path of the
 * descriptor. If that is not the requested path, `walk` opens it again segment by segment (design: disk).
 */
async function openPath(root: StorageRoot, segments: readonly string[]): Promise<number> {
  if (segments.some(isBadName)) throw errorWithCode('EINVAL');
  if (segments.length === 0) return open(`${descriptorPath(root.descriptor)}/.`, O_PATH | O_DIRECTORY);
  const flags = O_PATH | O_NOFOLLOW;
  const relativePath = segments.join('/');
  let handle = -1;
  try {
    handle = await open(descriptorPath(root.descriptor, relativePath), flags);
  } catch (cause) {
    if (systemErrorCode(cause) !== 'ENAMETOOLONG') throw cause;
    return walk(root, segments, flags);
  }
  if (isExactly(handle, `${root.path}/${relativePath}`)) return handle;
  fs.closeSync(handle);
  return walk(root, segments, flags);
}

/** Returns whether the descriptor's real path is the given path. */
function isExactly(descriptor: number, path: string): boolean {
  try {
    return fs.readlinkSync(descriptorPath(descriptor)) === path;
  } catch {
    return false; // the path is too long for readlink, so that the caller walks
  }
}

/**
 * Opens a file or folder within the root, for reading by default, and follows no symbolic link.
 * @throws ELOOP if the path leads to anything else, such as a link or a device
 */
export async function openWithinRoot(root: StorageRoot, segments: readonly string[], flags: number = O_RDONLY): Promise<number> {
  const handle = await openPath(root, segments);
  try {
    const stat = fs.fstatSync(handle);
    if (!stat.isFile() && !stat.isDirectory()) throw errorWithCode('ELOOP');
    return await open(descriptorPath(handle), flags); // the same inode: no name is looked up again
  } finally {
    fs.closeSync(handle);
  }
}

/** Opens the file of a descriptor from `findWithinRootSync` for reading: the same inode, no name is looked up again. */
export const reopenSync = (handle: number) => fs.openSync(descriptorPath(handle), O_RDONLY);

/** Opens exactly root/segments with O_PATH as `openPath` does, but synchronously, for a thread that may block. */
export function findWithinRootSync(root: StorageRoot, segments: readonly string[]): number {
  if (segments.some(isBadName)) throw errorWithCode('EINVAL');
  if (segments.length === 0) return fs.openSync(`${descriptorPath(root.descriptor)}/.`, O_PATH | O_DIRECTORY);
  const relativePath = segments.join('/');
  try {
    const handle = fs.openSync(descriptorPath(root.descriptor, relativePath), O_PATH | O_NOFOLLOW);
    if (isExactly(handle, `${root.path}/${relativePath}`)) return handle;
    fs.closeSync(handle);
  } catch (cause) {
    if (systemErrorCode(cause) !== 'ENAMETOOLONG') throw cause;
  }
  return walkSync(root, segments);
}

function walkSync(root: StorageRoot, segments: readonly string[]): number {
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

/** Opens a folder so that entries can be created in it and it can be synced. */
export const openFolder = (root: StorageRoot, segments: readonly string[]) => openWithinRoot(root, segments, O_RDONLY | O_DIRECTORY);

/** Opens a folder, runs `work` on its descriptor, and closes it. */
export async function withFolder<T>(
  root: StorageRoot,
  segments: readonly string[],
  work: (descriptor: number) => Promise<T> | T,
): Promise<T> {
  const descriptor = await openFolder(root, segments);
  try {
    return await work(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Creates a file and opens it for writing. @throws EEXIST if the name is taken */
export const createFile = (folder: number, name: string, mode: number) =>
  open(descriptorPath(folder, name), O_CREAT | O_EXCL | O_NOFOLLOW | fs.constants.O_WRONLY, mode);
