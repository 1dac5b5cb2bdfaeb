declare const checked: unique symbol;
/** A path as a list of checked segments: it can name nothing above its root. Empty: the root itself. */
export type ItemPath = readonly string[] & { readonly [checked]: true };

/** The longest name that the file systems in use take, in bytes of UTF-8. */
const longestName = 255;
/** The deepest path that a caller may name: each level costs the disk a lookup, and the check of its name. */
export const mostLevels = 255;
/** Characters of such a path: what a share's path may have. */
export const longestPath = 4096;
const reserved = '.postern';
const mostBytes = 3; // of UTF-8 for each of UTF-16
const encoder = new TextEncoder();
const byteLength = (text: string) => encoder.encode(text).length;

const plainName = /^[ -\-0-[\]-~][ -.0-[\]-~]{0,254}$/; // ASCII without / and \, no dot in front: nothing more is to be looked at

/** Longer than a disk takes. */
export const isTooLong = (name: string) => name.length * mostBytes > longestName && byteLength(name) > longestName;

/** Kept for Postern's own folder and files. NFKC: a disk that ignores case may also take compatible letters for the same. */
export function isReservedName(name: string): boolean {
  const begin = name
    .slice(0, 2 * reserved.length + 2)
    .normalize('NFKC')
    .toLowerCase(); // two units a letter, at most
  return (begin === reserved && name.length <= 2 * reserved.length) || begin.startsWith(`${reserved}-`);
}

/** Says what is wrong with a name within a folder, or null where nothing is. */
export function nameError(name: string): string | null {
  if (plainName.test(name)) return null;
  if (name === '') return 'a name must not be empty';
  if (name === '.' || name === '..') return '"." and ".." are not names';
  if (/[/\\]/.test(name)) return 'a name must not hold / or \\';
  if (!name.isWellFormed() || /\p{Cc}/u.test(name)) return 'a name must not hold control characters or broken text';
  if (isTooLong(name)) return `a name is at most ${longestName} bytes long`;
  if (isReservedName(name)) return 'names that begin with .postern are kept for Postern';
  return null;
}

const isItemPath = (segments: readonly string[]): segments is ItemPath => segments.every((segment) => nameError(segment) === null);

/** Makes a path of segments that were checked before: to check hundreds of them again takes a millisecond. */
const ofChecked = (segments: readonly string[]) => segments as ItemPath;

/** The root of whatever is looked at. */
export const rootPath = ofChecked([]);

/** @returns null where a segment is not a name (see nameFault). */
export function parseSegments(segments: readonly string[]): ItemPath | null {
  return isItemPath(segments) ? segments : null;
}

function segmentsOf(text: string): readonly string[] {
  const inner = text.slice(text.startsWith('/') ? 1 : 0, text.endsWith('/') ? -1 : undefined);
  return inner === '' ? [] : inner.split('/');
}

const isShort = (segments: readonly string[]) =>
  segments.length <= mostLevels && segments.reduce((sum, { length }) => sum + length + 1, 0) <= longestPath + 1;

/** Reads a path that was checked before it was stored: a share's and a visitor's together may be deeper than one. */
export const parseStoredPath = (text: string): ItemPath | null => parseSegments(segmentsOf(text));

/** Reads plain text such as `/reports/2026`; one slash may lead and one may follow. @returns null where it is deeper than `mostLevels` or longer than `longestPath`, too */
export function parseItemPath(text: string): ItemPath | null {
  const segments = segmentsOf(text);
  return isShort(segments) ? parseSegments(segments) : null;
}

/** Reads the path part of an address, percent-encoded per segment, decoded once; an encoded slash is not a separator. */
export function parseEncodedPath(encoded: string): ItemPath | null {
  if (encoded === '') return rootPath;
  if (encoded === '/') return null;
  const segments = (encoded.endsWith('/') ? encoded.slice(0, -1) : encoded).split('/', mostLevels + 1);
  if (segments.length > mostLevels) return null;
  try {
    const names = segments.map(decodeURIComponent);
    return isShort(names) ? parseSegments(names) : null;
  } catch {
    return null; // not percent-encoded UTF-8
  }
}

/** The rule for a path, as the error of a field states it. */
export const pathRule = `must be at most ${mostLevels} names separated by /, of ${longestPath} characters in all, none of them ".", ".." or one that begins with .postern`;

/** `/reports/2026`; the root is `/`. */
export const formatItemPath = (path: ItemPath) => `/${path.join('/')}`;

/** The path of `inner` seen from where `outer` begins. */
export const joinPaths = (outer: ItemPath, inner: ItemPath): ItemPath => ofChecked([...outer, ...inner]);

/** The folder that holds the item, and the item's name; null for the root. */
export function splitPath(path: ItemPath): { parent: ItemPath; name: string } | null {
  const name = path.at(-1);
  return name === undefined ? null : { parent: ofChecked(path.slice(0, -1)), name };
}

/** The path with another name at its end; the root, which has none, stays. @throws RangeError where it is no name */
export function withName(path: ItemPath, name: string): ItemPath {
  if (path.length === 0) return path;
  const fault = nameError(name);
  if (fault !== null) throw new RangeError(fault);
  return ofChecked([...path.slice(0, -1), name]);
}

/** `name (2).ext`: the name that a second file of the same name is kept under. @param suffix a number, or random letters */
export function numberedName(name: string, suffix: number | string): string {
  const dot = name.lastIndexOf('.');
  // An ending that leaves no room for a name is none.
  const cut = dot > 0 && byteLength(name.slice(dot)) <= longestName / 2 ? dot : name.length;
  const ending = ` (${suffix})${name.slice(cut)}`;
  let stem = name.slice(0, cut);
  while (stem.length > 1 && byteLength(stem + ending) > longestName) stem = [...stem].slice(0, -1).join('');
  return stem + ending;
}
