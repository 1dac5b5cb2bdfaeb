import type { Failure, UploadReceipt } from '#visitor/link-api.ts';

/** A file to upload, with its folder relative to the drop target. */
export interface FileToUpload {
  readonly file: File;
  readonly folder: readonly string[];
  /** true: the device could not read the file when it was chosen. */
  readonly unreadable?: boolean;
}

export interface UploadItem {
  readonly number: number;
  readonly file: File;
  /** The path of the uploaded file, with its name at the end. */
  readonly path: readonly string[];
  /** Bytes. */
  readonly sent: number;
  /** Whether the upload waits for its next attempt, which starts by itself. */
  readonly isInterrupted: boolean;
  readonly state: 'waiting' | 'sending' | 'conflict' | 'done' | 'failed';
  readonly failure: Failure | null;
  readonly receipt: UploadReceipt | null;
}

/** What to do with a file whose name already exists. */
export type ConflictChoice = 'replace' | 'both' | 'skip';

/** The state of the upload queue, as the page shows it. */
export interface UploadQueueState {
  readonly items: readonly UploadItem[];
  readonly isPaused: boolean;
  /** Increases with every completed upload, so that the folder is loaded again. */
  readonly completed: number;
  /** Bytes per second, for all running uploads together. */
  readonly speed: number;
}

/** Returns whether an upload is waiting, running, or has a conflict that the visitor must resolve. */
export const isActive = ({ state }: UploadItem) => state === 'waiting' || state === 'sending' || state === 'conflict';
/** Returns the name that the uploaded file gets. */
export const uploadName = ({ path, file }: Pick<UploadItem, 'path' | 'file'>) => path.at(-1) ?? file.name;
/** Returns whether an upload has failed and another attempt may succeed. */
export const canRetry = ({ state, failure }: UploadItem) => state === 'failed' && failure?.code !== 'fileUnreadable';
