declare const checked: unique symbol;
/** A path as a list of checked segments: it can name nothing above its root. Empty: the root itself. */
export type ItemPath = readonly string[] & { readonly [checked]: true };

/** The longest name that the file systems in use take, in bytes of UTF-8. */
const longestName = 255;
const reserved = '.postern';
const byteLength = (text: string) => new TextEncoder().encode(text).length;

const plainName = /^\w[\w .,()+-]{0,253}$/; // most names: nothing more is to be looked at

/** Longer than a disk takes. */
export const isTooLong = (name: string) => byteLength(name) > longestName;

/** Kept for Postern's own folder and files. NFKC: a disk that ignores case may also take compatible letters for the same. */
export function isKept(name: string): boolean {
  const folded = name.normalize('NFKC').toLowerCase();
  return folded === reserved || folded.startsWith(`${reserved}-`);
}

/** Says what is wrong with a name within a folder, or null where nothing is. */
export function nameFault(name: string): string | null {
  if (plainName.test(name)) return null;
  if (name === '') return 'a name must not be empty';
  if (name === '.' || name === '..') return '"." and ".." are not names';
  if (/[/\\]/.test(name)) return 'a name must not hold / or \\';
  if (!name.isWellFormed() || /\p{Cc}/u.test(name)) return 'a name must not hold control characters or broken text';
  if (isKept(name)) return 'names that begin with .postern are kept for Postern';
  if (isTooLong(name)) return `a name is at most ${longestName} bytes long`;
  return null;
}

const isItemPath = (segments: readonly string[]): segments is ItemPath => segments.every((segment) => nameFault(segment) === null);

/** The root of whatever is looked at. */
export const rootPath = itemPathOf([]);

function itemPathOf(segments: readonly string[]): ItemPath {
  if (isItemPath(segments)) return segments;
  throw new RangeError('not a list of checked segments');
}

/** @returns null where a segment is not a name (see nameFault). */
export function parseSegments(segments: readonly string[]): ItemPath | null {
  return isItemPath(segments) ? segments : null;
}

/** Reads plain text such as `/reports/2026`; one slash may lead and one may follow. */
export function parseItemPath(text: string): ItemPath | null {
  const inner = text.replace(/^\//, '').replace(/\/$/, '');
  return parseSegments(inner === '' ? [] : inner.split('/'));
}

/** Reads the path part of an address, percent-encoded per segment, decoded once; an encoded slash is not a separator. */
export function parseEncodedPath(encoded: string): ItemPath | null {
  if (encoded === '') return rootPath;
  if (encoded === '/') return null;
  try {
    return parseSegments(encoded.replace(/\/$/, '').split('/').map(decodeURIComponent));
  } catch {
    return null; // not percent-encoded UTF-8
  }
}

/** `/reports/2026`; the root is `/`. */
export const formatItemPath = (path: ItemPath) => `/${path.join('/')}`;

/** The path of `inner` seen from where `outer` begins. */
export const joinPaths = (outer: ItemPath, inner: ItemPath): ItemPath => itemPathOf([...outer, ...inner]);

/** The folder that holds the item, and the item's name; null for the root. */
export function splitPath(path: ItemPath): { parent: ItemPath; name: string } | null {
  const name = path.at(-1);
  return name === undefined ? null : { parent: itemPathOf(path.slice(0, -1)), name };
}

/** The path with another name at its end; the root, which has none, stays. */
export const withName = (path: ItemPath, name: string): ItemPath => (path.length === 0 ? path : itemPathOf([...path.slice(0, -1), name]));

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
