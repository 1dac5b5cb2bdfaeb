import { asFailure, type Failure, type UploadReceipt, unreadableFailure, upload } from '#visitor/link-api.ts';
import { NewFolders } from './new-folders.ts';
import { nextNumberedName } from './next-numbered-name.ts';
import { maxSingleSize, type UploadEvents, uploadInParts } from './upload-in-parts.ts';
import { type ConflictChoice, canRetry, type FileToUpload, type UploadItem, type UploadQueueState } from './upload-item.ts';

const maxConcurrent = 3; // more uploads share the same connection and are not faster
const minSpeedTime = 0.3; // s: a speed measured over a shorter time is not reliable

/** What the upload queue needs from the page. */
export interface UploadQueueOptions {
  readonly show: (queue: UploadQueueState) => void;
  /** Returns the ETag of the file at a path, or null if there is none. */
  readonly fetchEtag: (path: readonly string[]) => Promise<string | null>;
  /** Receives why an upload failed, unless the visitor has cancelled it. When the session has ended, the queue pauses until `resume`. */
  readonly reportFailure: (failure: Failure) => void;
  /** Returns whether folders may be created now. Otherwise all files go to the folder that they are added to. */
  readonly canCreateFolders: () => boolean;
}

const withNumberedName = (path: readonly string[]) => [...path.slice(0, -1), nextNumberedName(path.at(-1) ?? '')];

/** The upload queue. It is independent of the folder that the page shows. */
export class UploadQueue {
  readonly #options: UploadQueueOptions;
  readonly #folders = new NewFolders();
  readonly #running = new Map<number, AbortController>();
  readonly #replacedEtags = new Map<number, string>();
  /** The numbers of the items that replace a file whose ETag is not known yet. The ETag is fetched when the item is sent. */
  readonly #replacingItems = new Set<number>();
  /** Addresses of the uploads in parts that are being sent. */
  readonly #addresses = new Set<string>();
  /** The numbers of the items that take the next numbered name on every conflict, until a name is free. */
  readonly #keepBothItems = new Set<number>();
  /** For each item, how many folders of its path exist already. */
  readonly #existingDepths = new Map<number, number>();
  #queue: UploadQueueState = { items: [], isPaused: false, completed: 0, speed: 0 };
  #lastNumber = 0;
  #isFramePending = false;
  /** Start time and bytes since the queue was last idle: the basis of the speed. */
  #transfer = { startedAt: 0, bytes: 0 };

  constructor(options: UploadQueueOptions) {
    this.#options = options;
  }

  add(files: readonly FileToUpload[], path: readonly string[]): void {
    const canCreateFolders = this.#options.canCreateFolders();
    const items = files.map(({ file, folder, unreadable: isUnreadable = false }): UploadItem => {
      const item = this.#newItem(file, [...path, ...(canCreateFolders ? folder : []), file.name]);
      return isUnreadable ? { ...item, state: 'failed', failure: unreadableFailure() } : item;
    });
    for (const { number } of items) this.#existingDepths.set(number, path.length);
    this.#append(items);
  }

  /** Continues the upload of a file to a path, after the page was closed. */
  continue(file: File, path: readonly string[]): void {
    const item = this.#newItem(file, path);
    this.#existingDepths.set(item.number, path.length - 1);
    this.#append([item]);
  }

  /** Replaces the shared file, in a share of a single file. */
  replaceShared(file: File, etag: string): void {
    const item = this.#newItem(file, []);
    this.#replacedEtags.set(item.number, etag);
    this.#append([item]);
  }

  retry(number: number): void {
    const item = this.#find(number);
    if (item) this.#retry(item);
    this.#startNext();
  }

  retryAll(): void {
    for (const item of this.#queue.items) this.#retry(item);
    this.#startNext();
  }

  cancel(number: number): void {
    this.#set({ items: this.#queue.items.filter((item) => item.number !== number) });
    this.#running.get(number)?.abort();
    this.#startNext();
  }

  /** @param forAll whether the choice also applies to all other conflicts */
  resolveConflict(number: number, choice: ConflictChoice, forAll: boolean): void {
    for (const item of this.#queue.items)
      if (item.state === 'conflict' && (forAll || item.number === number)) this.#applyChoice(item, choice);
  }

  pause(): void {
    this.#set({ isPaused: true });
  }

  resume(): void {
    this.#set({ isPaused: false });
    this.#startNext();
  }

  /** Removes the items that are done or have failed. */
  clear(): void {
    this.#set({ items: this.#queue.items.filter(({ state }) => state !== 'done' && state !== 'failed') });
  }

  #set(changes: Partial<UploadQueueState>): void {
    this.#queue = { ...this.#queue, ...changes };
    if (this.#isFramePending) return;
    this.#isFramePending = true;
    requestAnimationFrame(() => {
      this.#isFramePending = false;
      this.#options.show(this.#queue);
    });
  }

  #change(number: number, changes: Partial<UploadItem>): void {
    this.#set({ items: this.#queue.items.map((item) => (item.number === number ? { ...item, ...changes } : item)) });
  }

  #append(items: readonly UploadItem[]): void {
    this.#set({ items: [...this.#queue.items, ...items] });
    this.#startNext();
  }

  #newItem(file: File, path: readonly string[]): UploadItem {
    this.#lastNumber += 1;
    return { number: this.#lastNumber, file, path, sent: 0, isInterrupted: false, state: 'waiting', failure: null, receipt: null };
  }

  #find(number: number): UploadItem | undefined {
    return this.#queue.items.find((item) => item.number === number);
  }

  #startNext(): void {
    if (this.#running.size === 0) this.#transfer = { startedAt: performance.now(), bytes: 0 };
    while (this.#running.size < maxConcurrent && !this.#queue.isPaused) {
      const item = this.#queue.items.find(({ state, number }) => state === 'waiting' && !this.#running.has(number));
      if (!item) break;
      void this.#send(item);
    }
    if (this.#running.size > 0) return;
    this.#folders.clear();
    if (this.#queue.isPaused && !this.#queue.items.some(({ state }) => state === 'waiting')) this.#set({ isPaused: false });
  }

  async #send(item: UploadItem): Promise<void> {
    const { number, path, file } = item;
    const abort = new AbortController();
    this.#running.set(number, abort);
    this.#change(number, { state: 'sending', sent: 0, isInterrupted: false, failure: null });
    try {
      await this.#folders.create(path, this.#existingDepths.get(number) ?? path.length);
      await this.#fetchReplacedEtag(item);
      abort.signal.throwIfAborted(); // cancelled while its folders were created or the ETag was fetched
      const receipt = await this.#upload(item, abort.signal);
      this.#change(number, { state: 'done', sent: file.size, receipt });
      this.#set({ completed: this.#queue.completed + 1 });
    } catch (cause) {
      if (this.#find(number)) this.#handleFailure(item, asFailure(cause));
    } finally {
      this.#running.delete(number);
      this.#startNext();
    }
  }

  #upload({ number, path, file }: UploadItem, signal: AbortSignal): Promise<UploadReceipt> {
    const { onOffset, onProgress } = this.#countProgress(number);
    const etag = this.#replacedEtags.get(number);
    if (etag !== undefined || file.size <= maxSingleSize) return upload(path, file, etag ?? null, onProgress, signal);
    const onInterruption = (isInterrupted: boolean) => {
      if (this.#find(number)?.isInterrupted !== isInterrupted) this.#change(number, { isInterrupted });
    };
    return uploadInParts(path, file, { onOffset, onProgress, onInterruption, addresses: this.#addresses }, signal);
  }

  /** Returns functions that update the progress of an item and the speed of the queue. */
  #countProgress(number: number): Pick<UploadEvents, 'onOffset' | 'onProgress'> {
    let sentBefore = 0;
    return {
      onOffset: (received) => {
        sentBefore = received;
        this.#change(number, { sent: received });
      },
      onProgress: (sent) => {
        this.#transfer.bytes += sent - sentBefore;
        sentBefore = sent;
        const time = (performance.now() - this.#transfer.startedAt) / 1000;
        this.#queue = { ...this.#queue, speed: this.#transfer.bytes / Math.max(minSpeedTime, time) };
        this.#change(number, { sent });
      },
    };
  }

  #handleFailure(item: UploadItem, failure: Failure): void {
    const { number, path } = item;
    this.#options.reportFailure(failure);
    if (failure.code === 'signInNeeded') {
      this.#change(number, { state: 'waiting', sent: 0 });
      this.#set({ isPaused: true });
    } else if (failure.code === 'itemExists' && this.#keepBothItems.has(number))
      this.#change(number, { state: 'waiting', path: withNumberedName(path), sent: 0 });
    else if (failure.code === 'itemExists' && !this.#replacedEtags.has(number) && !this.#replacingItems.has(number))
      this.#change(number, { state: 'conflict', sent: 0 });
    else this.#change(number, { state: 'failed', failure });
  }

  #retry(item: UploadItem): void {
    if (!canRetry(item)) return;
    this.#replacedEtags.delete(item.number);
    if (item.path.length === 0) this.#replacingItems.add(item.number);
    else this.#replacingItems.delete(item.number);
    this.#change(item.number, { state: 'waiting', failure: null });
  }

  async #fetchReplacedEtag({ number, path }: UploadItem): Promise<void> {
    if (!this.#replacingItems.has(number)) return;
    const etag = await this.#options.fetchEtag(path);
    if (etag !== null) this.#replacedEtags.set(number, etag);
    this.#replacingItems.delete(number);
  }

  #applyChoice(item: UploadItem, choice: ConflictChoice): void {
    if (choice === 'skip') this.#set({ items: this.#queue.items.filter(({ number }) => number !== item.number) });
    else if (choice === 'replace') {
      this.#replacingItems.add(item.number);
      this.#change(item.number, { state: 'waiting' });
    } else {
      this.#keepBothItems.add(item.number);
      this.#change(item.number, { state: 'waiting', path: withNumberedName(item.path) });
    }
    this.#startNext();
  }
}
