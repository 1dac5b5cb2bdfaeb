import { asFailure, createFolder, Failure, type UploadReceipt, unreadable, upload } from '#visitor/link-api.ts';
import { freeName } from './free-name.ts';

const maxConcurrent = 3; // more uploads share the same connection and are not faster

/** A file to upload, with its folder relative to the drop target. */
export interface Upload {
  readonly file: File;
  readonly folder: readonly string[];
  /** The device could not read the file when it was chosen. */
  readonly unreadable?: boolean;
}

/** A file in the upload queue. */
export interface UploadItem {
  readonly number: number;
  readonly file: File;
  /** The path of the uploaded file, with its name at the end. */
  readonly path: readonly string[];
  /** Bytes. */
  readonly sent: number;
  readonly state: 'waiting' | 'sending' | 'conflict' | 'done' | 'failed';
  readonly failure: Failure | null;
  readonly receipt: UploadReceipt | null;
}

/** What to do with a file whose name already exists. */
export type ConflictChoice = 'replace' | 'both' | 'skip';

/** The state of the upload queue, as the page shows it. */
export interface Queue {
  readonly items: readonly UploadItem[];
  readonly isPaused: boolean;
  /** Increases with every completed upload, so that the folder is loaded again. */
  readonly completed: number;
  /** Bytes per second, for all running uploads together. */
  readonly speed: number;
}

/** What the upload queue needs from the page. */
export interface UploadQueueOptions {
  readonly show: (queue: Queue) => void;
  /** Returns the ETag of the file at a path, or null if there is none. */
  readonly fetchEtag: (path: readonly string[]) => Promise<string | null>;
  /** Receives every failure. When the session has ended, the queue pauses until `resume`. */
  readonly reportFailure: (failure: Failure) => void;
  /** Whether folders may be created. Otherwise all files go to the folder they were dropped on. */
  readonly canCreateFolders: boolean;
}

/** The actions on the upload queue. */
export interface Uploads {
  add(files: readonly Upload[], path: readonly string[]): void;
  /** Replaces the shared file, in a share of a single file. */
  replaceShared(file: File, etag: string): void;
  retry(number: number): void;
  retryAll(): void;
  cancel(number: number): void;
  /** @param forAll whether the choice also applies to all other conflicts */
  resolveConflict(number: number, choice: ConflictChoice, forAll: boolean): void;
  pause(): void;
  resume(): void;
  clear(): void;
}

/** Returns whether an upload is waiting, running, or has a conflict that the visitor must resolve. */
export const isActive = ({ state }: UploadItem) => state === 'waiting' || state === 'sending' || state === 'conflict';
/** Returns the name that the uploaded file gets. */
export const uploadName = ({ path, file }: UploadItem) => path.at(-1) ?? file.name;
/** Returns whether another attempt may succeed. */
export const canRetry = ({ state, failure }: UploadItem) => state === 'failed' && failure?.code !== 'fileUnreadable';

const withFreeName = (path: readonly string[]) => [...path.slice(0, -1), freeName(path.at(-1) ?? '')];

/** Creates an upload queue. It is independent of the folder that the page shows. */
export function createUploadQueue({ show, fetchEtag, reportFailure, canCreateFolders }: UploadQueueOptions): Uploads {
  let queue: Queue = { items: [], isPaused: false, completed: 0, speed: 0 };
  let lastNumber = 0;
  let isShown = true;
  /** Start time and bytes since the queue was last idle: the basis of the speed. */
  const transfer = { startedAt: 0, bytes: 0 };
  const running = new Map<number, AbortController>();
  const replacedEtags = new Map<number, string>();
  /** The numbers of the items that take the next free name on every conflict. */
  const keepsBoth = new Set<number>();
  const folders = new Map<string, Promise<void>>();
  /** For each item, how many folders of its path exist already. */
  const existingDepths = new Map<number, number>();

  const set = (changes: Partial<Queue>) => {
    queue = { ...queue, ...changes };
    if (!isShown) return;
    isShown = false;
    requestAnimationFrame(() => {
      isShown = true;
      show(queue);
    });
  };
  const change = (number: number, changes: Partial<UploadItem>) =>
    set({ items: queue.items.map((item) => (item.number === number ? { ...item, ...changes } : item)) });
  const append = (items: readonly UploadItem[]) => {
    set({ items: [...queue.items, ...items] });
    startNext();
  };
  function newItem(file: File, path: readonly string[]): UploadItem {
    lastNumber += 1;
    return { number: lastNumber, file, path, sent: 0, state: 'waiting', failure: null, receipt: null };
  }
  const find = (number: number) => queue.items.find((item) => item.number === number);

  /** Creates the folders of an item's path, each only once for all items. */
  async function createFolders(item: UploadItem, existingDepth: number): Promise<void> {
    for (let end = existingDepth + 1; end < item.path.length; end += 1) {
      const path = item.path.slice(0, end);
      const key = path.join('/');
      const creation =
        folders.get(key) ??
        createFolder(path).catch((cause) => {
          const failure = asFailure(cause);
          if (failure.code === 'itemExists') return;
          folders.delete(key);
          throw ['signInNeeded', 'offline'].includes(failure.code) ? failure : new Failure(failure.status, 'folderNotCreated', '', null);
        });
      folders.set(key, creation);
      await creation;
    }
  }

  function handleFailure(item: UploadItem, failure: Failure): void {
    reportFailure(failure);
    if (failure.code === 'signInNeeded') {
      change(item.number, { state: 'waiting', sent: 0 });
      set({ isPaused: true });
    } else if (failure.code === 'itemExists' && keepsBoth.has(item.number))
      change(item.number, { state: 'waiting', path: withFreeName(item.path), sent: 0 });
    else if (failure.code === 'itemExists' && !replacedEtags.has(item.number)) change(item.number, { state: 'conflict', sent: 0 });
    else change(item.number, { state: 'failed', failure });
  }

  async function send(item: UploadItem): Promise<void> {
    const abort = new AbortController();
    running.set(item.number, abort);
    change(item.number, { state: 'sending', sent: 0, failure: null });
    let sentBefore = 0;
    const onProgress = (sent: number) => {
      transfer.bytes += sent - sentBefore;
      sentBefore = sent;
      const speed = transfer.bytes / Math.max(0.3, (performance.now() - transfer.startedAt) / 1000);
      queue = { ...queue, speed };
      change(item.number, { sent });
    };
    try {
      await createFolders(item, existingDepths.get(item.number) ?? item.path.length);
      abort.signal.throwIfAborted(); // cancelled while its folders were created
      const receipt = await upload(item.path, item.file, replacedEtags.get(item.number) ?? null, onProgress, abort.signal);
      change(item.number, { state: 'done', sent: item.file.size, receipt });
      set({ completed: queue.completed + 1 });
    } catch (cause) {
      if (find(item.number)) handleFailure(item, asFailure(cause));
    } finally {
      running.delete(item.number);
      startNext();
    }
  }

  function startNext(): void {
    if (running.size === 0) Object.assign(transfer, { startedAt: performance.now(), bytes: 0 });
    while (running.size < maxConcurrent && !queue.isPaused) {
      const item = queue.items.find(({ state, number }) => state === 'waiting' && !running.has(number));
      if (!item) break;
      void send(item);
    }
    if (running.size > 0) return;
    folders.clear(); // someone may delete them before the next upload
    if (queue.isPaused && !queue.items.some(({ state }) => state === 'waiting')) set({ isPaused: false });
  }

  /** Uploads the item in place of the file that has its name now. */
  async function replace(item: UploadItem): Promise<void> {
    try {
      const etag = await fetchEtag(item.path);
      if (etag !== null) replacedEtags.set(item.number, etag);
      change(item.number, { state: 'waiting', failure: null });
    } catch (cause) {
      change(item.number, { state: 'failed', failure: asFailure(cause) });
    }
    startNext();
  }

  function retry(item: UploadItem): void {
    if (!canRetry(item)) return;
    replacedEtags.delete(item.number);
    if (item.path.length === 0) void replace(item);
    else change(item.number, { state: 'waiting', failure: null });
  }

  function applyChoice(item: UploadItem, choice: ConflictChoice): void {
    if (choice === 'skip') set({ items: queue.items.filter(({ number }) => number !== item.number) });
    else if (choice === 'replace') void replace(item);
    else {
      keepsBoth.add(item.number);
      change(item.number, { state: 'waiting', path: withFreeName(item.path) });
    }
    startNext();
  }

  return {
    add(files, path) {
      const items = files.map(({ file, folder, unreadable: isUnreadable = false }): UploadItem => {
        const item = newItem(file, [...path, ...(canCreateFolders ? folder : []), file.name]);
        return isUnreadable ? { ...item, state: 'failed', failure: unreadable() } : item;
      });
      for (const { number } of items) existingDepths.set(number, path.length);
      append(items);
    },
    replaceShared(file, etag) {
      const item = newItem(file, []);
      replacedEtags.set(item.number, etag);
      append([item]);
    },
    retry(number) {
      const item = find(number);
      if (item) retry(item);
      startNext();
    },
    retryAll() {
      for (const item of queue.items) retry(item);
      startNext();
    },
    cancel(number) {
      set({ items: queue.items.filter((item) => item.number !== number) });
      running.get(number)?.abort();
      startNext();
    },
    resolveConflict(number, choice, forAll) {
      for (const item of queue.items) if (item.state === 'conflict' && (forAll || item.number === number)) applyChoice(item, choice);
    },
    pause: () => set({ isPaused: true }),
    resume() {
      set({ isPaused: false });
      startNext();
    },
    clear: () => set({ items: queue.items.filter(({ state }) => state !== 'done' && state !== 'failed') }),
  };
}
