declare const isChecked: unique symbol;
/** A path as a list of checked segments, so that it cannot lead out of its root. Empty: the root itself. */
export type ItemPath = readonly string[] & { readonly [isChecked]: true };

/** Longest name that common file systems accept, in bytes of UTF-8. */
const maxNameBytes = 255;
/** Maximum number of levels of a path in a request. Each level costs a check of its name and a lookup on the disk. */
export const maxPathLevels = 255;
/** Longest path in a request or of a share, in characters. */
export const maxPathLength = 4096;
const reservedPrefix = '.postern';
const maxBytesPerUnit = 3; // bytes of UTF-8 that one UTF-16 code unit can take
const encoder = new TextEncoder();
const byteLength = (text: string) => encoder.encode(text).length;

// Printable ASCII without / and \, and no dot at the beginning: such names need no further checks.
const plainName = /^[ -\-0-[\]-~][ -.0-[\]-~]{0,254}$/;

/** Returns whether a name has more bytes than file systems accept. */
export const isNameTooLong = (name: string) => name.length * maxBytesPerUnit > maxNameBytes && byteLength(name) > maxNameBytes;

/**
 * Returns whether a name is reserved for Postern's own files and folders. Compares in NFKC and lower case: a file system that
 * ignores case may also treat compatible letters as equal.
 */
export function isReservedName(name: string): boolean {
  const start = name
    .slice(0, 2 * reservedPrefix.length + 2) // a letter may take two UTF-16 code units
    .normalize('NFKC')
    .toLowerCase();
  return (start === reservedPrefix && name.length <= 2 * reservedPrefix.length) || start.startsWith(`${reservedPrefix}-`);
}

/** Returns what is wrong with the name of a file or folder, or null if the name is valid. */
export function nameError(name: string): string | null {
  if (plainName.test(name)) return null;
  if (name === '') return 'a name must not be empty';
  if (name === '.' || name === '..') return '"." and ".." are not names';
  if (/[/\\]/.test(name)) return 'a name must not contain / or \\';
  if (!name.isWellFormed() || /\p{Cc}/u.test(name)) return 'a name must not contain control characters or invalid Unicode';
  if (isNameTooLong(name)) return `a name must be at most ${maxNameBytes} bytes long`;
  if (isReservedName(name)) return '.postern, and names that begin with .postern-, are reserved for Postern';
  return null;
}

const isItemPath = (segments: readonly string[]): segments is ItemPath => segments.every((segment) => nameError(segment) === null);

/** Creates a path of segments that were checked before. Checking hundreds of them again takes a millisecond. */
const toItemPath = (segments: readonly string[]) => segments as ItemPath;

/** The path of the root itself, such as that of a location or a share. */
export const rootPath = toItemPath([]);

/** Returns the path of the segments, or null if one of them is not a valid name (see `nameError`). */
export function parseSegments(segments: readonly string[]): ItemPath | null {
  return isItemPath(segments) ? segments : null;
}

function splitSegments(text: string): readonly string[] {
  const inner = text.slice(text.startsWith('/') ? 1 : 0, text.endsWith('/') ? -1 : undefined);
  return inner === '' ? [] : inner.split('/');
}

const isWithinLimits = (segments: readonly string[]) =>
  segments.length <= maxPathLevels && segments.reduce((sum, { length }) => sum + length + 1, 0) <= maxPathLength + 1;

/**
 * Parses a path that was checked before it was stored. Has no limit of levels or length: the path of a share joined with
 * that of a visitor may exceed them.
 */
export const parseStoredPath = (text: string): ItemPath | null => parseSegments(splitSegments(text));

/**
 * Parses plain text such as `/reports/2026`. The slashes at the beginning and at the end are optional.
 * @returns null if a name is not valid, or if the path exceeds `maxPathLevels` or `maxPathLength`
 */
export function parseItemPath(text: string): ItemPath | null {
  const segments = splitSegments(text);
  return isWithinLimits(segments) ? parseSegments(segments) : null;
}

/**
 * Parses the part of a URL that is a path below a link, without a slash at its beginning. Decodes each percent-encoded segment once; an
 * encoded slash is not a separator.
 * @returns null if the encoding or a name is not valid, or if the path exceeds `maxPathLevels` or `maxPathLength`
 */
export function parseEncodedPath(encoded: string): ItemPath | null {
  if (encoded === '') return rootPath;
  if (encoded === '/') return null;
  const segments = (encoded.endsWith('/') ? encoded.slice(0, -1) : encoded).split('/', maxPathLevels + 1);
  if (segments.length > maxPathLevels) return null;
  try {
    const names = segments.map(decodeURIComponent);
    return isWithinLimits(names) ? parseSegments(names) : null;
  } catch {
    return null; // not UTF-8 in percent-encoding
  }
}

/** The rule for a path, as the text of a field error. */
export const pathRule = `must be a path of at most ${maxPathLevels} names separated by / and at most ${maxPathLength} characters; no name may be ".", ".." or ".postern", or begin with ".postern-"`;

/** Returns a path as text, such as `/reports/2026`. The root is `/`. */
export const formatItemPath = (path: ItemPath) => `/${path.join('/')}`;

/** Returns the paths of the root, of all folders above an item, and of the item itself, as texts. */
export const pathsToItem = (path: ItemPath): readonly string[] => [
  '/',
  ...path.map((_, index) => `/${path.slice(0, index + 1).join('/')}`),
];

/** Joins two paths: `inner` is relative to `outer`. */
export const joinPaths = (outer: ItemPath, inner: ItemPath): ItemPath => toItemPath([...outer, ...inner]);

/** Returns the path of the parent folder and the name of the item, or null for the root. */
export function splitPath(path: ItemPath): { parent: ItemPath; name: string } | null {
  const name = path.at(-1);
  return name === undefined ? null : { parent: toItemPath(path.slice(0, -1)), name };
}

/**
 * Returns the path with its last name replaced. The root has no name and is returned unchanged.
 * @throws RangeError if the name is not valid
 */
export function withName(path: ItemPath, name: string): ItemPath {
  if (path.length === 0) return path;
  const error = nameError(name);
  if (error !== null) throw new RangeError(error);
  return toItemPath([...path.slice(0, -1), name]);
}

/**
 * Returns `name (2).ext`, the name for a second file of the same name. Shortens names that would be too long.
 * @param suffix a number, or random text
 */
export function numberedName(name: string, suffix: number | string): string {
  const dot = name.lastIndexOf('.');
  // An extension that takes more than half of the bytes could leave no space for the name: it counts as part of the name.
  const stemLength = dot > 0 && byteLength(name.slice(dot)) <= maxNameBytes / 2 ? dot : name.length;
  const ending = ` (${suffix})${name.slice(stemLength)}`;
  let stem = name.slice(0, stemLength);
  while (stem.length > 1 && byteLength(stem + ending) > maxNameBytes) stem = [...stem].slice(0, -1).join('');
  return stem + ending;
}
