import { readStoredText, saveStoredText } from '#kit/browser-storage.ts';
import { linkPath } from '#visitor/link-api.ts';

const key = `postern-uploads ${linkPath}`;
const maxAge = 24 * 3_600_000; // ms: an upload expires a day after its last bytes, and earlier if none have arrived
const maxUploads = 50;

/** An upload in parts that this browser has begun. */
export interface UnfinishedUpload {
  /** Path of the address of the upload. */
  readonly address: string;
  /** The path of the file, with its name at the end. */
  readonly path: readonly string[];
  /** Bytes. */
  readonly size: number;
  /** When the file was last modified, in ms since the epoch: shows whether the visitor chooses the same file again. */
  readonly modified: number;
  /** When the browser last began to send a part, in ms since the epoch. */
  readonly sentAt: number;
}

type FileOfVisitor = Pick<File, 'size' | 'lastModified'>;

/** Returns the unfinished uploads at this link, the newest first. */
export function readUnfinished(): readonly UnfinishedUpload[] {
  const text = readStoredText('localStorage', key);
  if (text === null) return [];
  try {
    const uploads: readonly UnfinishedUpload[] = JSON.parse(text);
    return uploads.filter(({ sentAt }) => Date.now() - sentAt < maxAge);
  } catch {
    return [];
  }
}

const save = (uploads: readonly UnfinishedUpload[]) => saveStoredText('localStorage', key, JSON.stringify(uploads.slice(0, maxUploads)));

/** Saves an upload, so that it can be continued after the page was closed. */
export function saveUnfinished(upload: Omit<UnfinishedUpload, 'sentAt'>): void {
  save([{ ...upload, sentAt: Date.now() }, ...readUnfinished().filter(({ address }) => address !== upload.address)]);
}

/** Forgets an upload that is not continued: it is complete, not wanted any more, or not on the server. */
export const forgetUnfinished = (address: string): void => save(readUnfinished().filter((upload) => upload.address !== address));

/** Returns whether a file has the size and the time of an unfinished upload, and so is taken for the same file. */
export const isSameFile = ({ size, modified }: UnfinishedUpload, file: FileOfVisitor) =>
  size === file.size && modified === file.lastModified;

/** Returns the unfinished upload of a file to a path, or undefined. @param addresses of uploads that are being sent */
export const findUnfinishedUpload = (
  path: readonly string[],
  file: FileOfVisitor,
  addresses: ReadonlySet<string>,
): UnfinishedUpload | undefined =>
  readUnfinished().find((upload) => upload.path.join('/') === path.join('/') && isSameFile(upload, file) && !addresses.has(upload.address));
