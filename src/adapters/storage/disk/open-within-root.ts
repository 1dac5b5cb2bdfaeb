import fs from 'node:fs';
import { promisify } from 'node:util';
import { codeOf, failure } from './disk-errors.ts';

const open = promisify(fs.open);
const fstat = promisify(fs.fstat);
const stat = promisify(fs.stat);
const { O_CREAT, O_DIRECTORY, O_EXCL, O_NOFOLLOW, O_RDONLY } = fs.constants;
const O_PATH = 0x200000; // Linux; not in fs.constants
const procfs = 0x9fa0; // its magic number in statfs(2)

/** The address of an open descriptor's thing, which no name leads astray. */
export const at = (descriptor: number, name = '') => `/proc/self/fd/${descriptor}${name && `/${name}`}`;

/** A folder that nothing may be reached above of; its descriptor stays open. */
export interface Root {
  readonly path: string;
  readonly descriptor: number;
  /** The mount in which it was opened. */
  readonly mount: string;
}

/** Returns what tells the mount of an open folder from others: its id, and its device, which differs between subvolumes too. */
export function mountOf(descriptor: number): string {
  const id = /^mnt_id:\s*(\d+)$/m.exec(fs.readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1];
  return `${fs.fstatSync(descriptor).dev} ${id}`;
}

/** The root itself may be a link: it is resolved once, here. @throws where there is no folder, or no procfs */
export function openRoot(given: string): Root {
  const path = fs.realpathSync.native(given);
  if (path === '/' || fs.statfsSync('/proc/self/fd/').type !== procfs) throw failure('EROOT');
  const descriptor = fs.openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
  return { path, descriptor, mount: mountOf(descriptor) };
}

const isSame = (opened: fs.Stats, named: fs.Stats) => opened.ino === named.ino && opened.dev === named.dev;

/** Is the folder that was opened still what its path leads to? An unmounted or removed one is not. */
export async function isThere(root: Root): Promise<boolean> {
  try {
    return isSame(...(await Promise.all([fstat(root.descriptor), stat(root.path)])));
  } catch {
    return false;
  }
}

/** The same in one turn, for a thread that may wait. */
export function isThereSync(root: Root): boolean {
  try {
    return isSame(fs.fstatSync(root.descriptor), fs.statSync(root.path));
  } catch {
    return false;
  }
}

const isBadName = (name: string) => name === '' || name === '.' || name === '..' || /[/\0]/.test(name) || !name.isWellFormed();

/** Component by component, following nothing: right also while names are renamed underneath. */
async function walk(root: Root, segments: readonly string[], flags: number): Promise<number> {
  let folder = root.descriptor;
  for (const [index, segment] of segments.entries()) {
    const last = index === segments.length - 1;
    try {
      const next = await open(at(folder, segment), last ? flags : O_PATH | O_DIRECTORY | O_NOFOLLOW);
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
 * A descriptor of exactly root/segments, opened with O_PATH: devices and pipes do not notice. The kernel says where the
 * opened thing is; where that is not where it was asked for, the walk decides (design: disk).
 */
async function find(root: Root, segments: readonly string[]): Promise<number> {
  if (segments.some(isBadName)) throw failure('EINVAL');
  if (segments.length === 0) return open(`${at(root.descriptor)}/.`, O_PATH | O_DIRECTORY);
  const flags = O_PATH | O_NOFOLLOW;
  const inner = segments.join('/');
  let found = -1;
  try {
    found = await open(at(root.descriptor, inner), flags);
  } catch (cause) {
    if (codeOf(cause) !== 'ENAMETOOLONG') throw cause;
    return walk(root, segments, flags);
  }
  if (isExactly(found, `${root.path}/${inner}`)) return found;
  fs.closeSync(found);
  return walk(root, segments, flags);
}

function isExactly(descriptor: number, path: string): boolean {
  try {
    return fs.readlinkSync(at(descriptor)) === path;
  } catch {
    return false; // longer than readlink answers: the walk decides
  }
}

/** Opens a file or folder below the root for reading, following no link; anything else answers ELOOP. */
export async function openWithinRoot(root: Root, segments: readonly string[], flags: number = O_RDONLY): Promise<number> {
  const found = await find(root, segments);
  try {
    const stat = fs.fstatSync(found);
    if (!stat.isFile() && !stat.isDirectory()) throw failure('ELOOP');
    return await open(at(found), flags); // the same inode: no name is looked up again
  } finally {
    fs.closeSync(found);
  }
}

/** What was found, for reading: the same inode, no name is looked up again. */
export const reopenSync = (found: number) => fs.openSync(at(found), O_RDONLY);

/** A descriptor of exactly root/segments as by find(), in one turn, for a thread that may wait. */
export function findWithinRootSync(root: Root, segments: readonly string[]): number {
  if (segments.some(isBadName)) throw failure('EINVAL');
  if (segments.length === 0) return fs.openSync(`${at(root.descriptor)}/.`, O_PATH | O_DIRECTORY);
  const inner = segments.join('/');
  try {
    const found = fs.openSync(at(root.descriptor, inner), O_PATH | O_NOFOLLOW);
    if (isExactly(found, `${root.path}/${inner}`)) return found;
    fs.closeSync(found);
  } catch (cause) {
    if (codeOf(cause) !== 'ENAMETOOLONG') throw cause;
  }
  return walkNow(root, segments);
}

function walkNow(root: Root, segments: readonly string[]): number {
  let folder = root.descriptor;
  for (const [index, segment] of segments.entries()) {
    const flags = O_PATH | O_NOFOLLOW | (index === segments.length - 1 ? 0 : O_DIRECTORY);
    try {
      const next = fs.openSync(at(folder, segment), flags);
      if (folder !== root.descriptor) fs.closeSync(folder);
      folder = next;
    } catch (cause) {
      if (folder !== root.descriptor) fs.closeSync(folder);
      throw cause;
    }
  }
  return folder;
}

/** Opens a folder so that names can be made in it and it can be synced. */
export const openFolder = (root: Root, segments: readonly string[]) => openWithinRoot(root, segments, O_RDONLY | O_DIRECTORY);

/** Opens a folder, runs `work` on its descriptor, closes it. */
export async function inFolder<T>(root: Root, segments: readonly string[], work: (descriptor: number) => Promise<T> | T): Promise<T> {
  const descriptor = await openFolder(root, segments);
  try {
    return await work(descriptor);
  } finally {
    fs.closeSync(descriptor);
  }
}

/** Makes a file that was not there. */
export const createFile = (folder: number, name: string, mode: number) =>
  open(at(folder, name), O_CREAT | O_EXCL | O_NOFOLLOW | fs.constants.O_WRONLY, mode);
