import { asFailure, createFolder, Failure, type Received, unreadable, upload } from '#visitor/link-api.ts';
import { freeName } from './free-name.ts';

const atOnce = 3; // more share the same line without being faster

/** A file that is to be uploaded, in a folder below the one it is dropped on. */
export interface Upload {
  readonly file: File;
  readonly folder: readonly string[];
  /** The device could not read it when it was chosen. */
  readonly unreadable?: boolean;
}

/** One file on its way. */
export interface Sending {
  readonly number: number;
  readonly file: File;
  /** Where it is to lie, its name last. */
  readonly path: readonly string[];
  readonly sent: number;
  readonly state: 'waiting' | 'sending' | 'asking' | 'done' | 'failed';
  readonly failure: Failure | null;
  readonly received: Received | null;
}

/** What becomes of a file whose name is there already. */
export type Choice = 'replace' | 'both' | 'skip';

/** All that is seen of a queue. */
export interface Queue {
  readonly all: readonly Sending[];
  readonly paused: boolean;
  /** Raised with every file that has arrived: what shows the folder looks again. */
  readonly arrived: number;
  /** Bytes a second, over all that is under way. */
  readonly speed: number;
}

/** What the queue needs of the world. */
export interface Surroundings {
  readonly show: (queue: Queue) => void;
  /** The validator of what lies there; null: nothing does. */
  readonly validatorOf: (path: readonly string[]) => Promise<string | null>;
  /** Told of what was refused; where somebody has to sign in again, everything waits until `resume`. */
  readonly refused: (failure: Failure) => void;
  /** May folders be made on the way? Else files lie where they were dropped. */
  readonly makesFolders: boolean;
}

/** Files on their way, and what can be done about them. */
export interface Uploads {
  add(files: readonly Upload[], path: readonly string[]): void;
  /** Puts a file in the place of the one that the link shares. */
  replaceShared(file: File, validator: string): void;
  again(number: number): void;
  againAll(): void;
  cancel(number: number): void;
  /** @param forAll every other file that is asked about, too */
  answer(number: number, choice: Choice, forAll: boolean): void;
  pause(): void;
  resume(): void;
  clear(): void;
}

/** On its way, or waiting for somebody's word. */
export const isUnderWay = ({ state }: Sending) => state === 'waiting' || state === 'sending' || state === 'asking';
/** What it is to be called. */
export const nameOf = ({ path, file }: Sending) => path.at(-1) ?? file.name;
/** Another try may come to something. */
export const canTryAgain = ({ state, failure }: Sending) => state === 'failed' && failure?.code !== 'fileUnreadable';

const besides = (path: readonly string[]) => [...path.slice(0, -1), freeName(path.at(-1) ?? '')];

/** A queue of uploads that goes on while one looks at other folders. */
export function uploadQueue({ show, validatorOf, refused: told, makesFolders }: Surroundings): Uploads {
  let queue: Queue = { all: [], paused: false, arrived: 0, speed: 0 };
  let last = 0;
  let drawn = true;
  const begun = { at: 0, bytes: 0 };
  const running = new Map<number, AbortController>();
  const replaced = new Map<number, string>();
  /** These take the next free name by themselves. */
  const beside = new Set<number>();
  const folders = new Map<string, Promise<void>>();
  /** How many of the folders above a file are there already. */
  const depths = new Map<number, number>();

  const set = (over: Partial<Queue>) => {
    queue = { ...queue, ...over };
    if (!drawn) return;
    drawn = false;
    requestAnimationFrame(() => {
      drawn = true;
      show(queue);
    });
  };
  const change = (number: number, over: Partial<Sending>) =>
    set({ all: queue.all.map((one) => (one.number === number ? { ...one, ...over } : one)) });
  const append = (files: readonly Sending[]) => {
    set({ all: [...queue.all, ...files] });
    next();
  };
  function waiting(file: File, path: readonly string[]): Sending {
    last += 1;
    return { number: last, file, path, sent: 0, state: 'waiting', failure: null, received: null };
  }
  const find = (number: number) => queue.all.find((one) => one.number === number);

  /** Makes the folders above a file, each once. */
  async function makeFolders(one: Sending, depth: number): Promise<void> {
    for (let end = depth + 1; end < one.path.length; end += 1) {
      const path = one.path.slice(0, end);
      const key = path.join('/');
      const made =
        folders.get(key) ??
        createFolder(path).catch((cause) => {
          const failure = asFailure(cause);
          if (failure.code === 'itemExists') return;
          folders.delete(key);
          throw ['signInNeeded', 'offline'].includes(failure.code) ? failure : new Failure(failure.status, 'folderUnmade', '', null);
        });
      folders.set(key, made);
      await made;
    }
  }

  function refused(one: Sending, failure: Failure): void {
    told(failure);
    if (failure.code === 'signInNeeded') {
      change(one.number, { state: 'waiting', sent: 0 });
      set({ paused: true });
    } else if (failure.code === 'itemExists' && beside.has(one.number))
      change(one.number, { state: 'waiting', path: besides(one.path), sent: 0 });
    else if (failure.code === 'itemExists' && !replaced.has(one.number)) change(one.number, { state: 'asking', sent: 0 });
    else change(one.number, { state: 'failed', failure });
  }

  async function send(one: Sending): Promise<void> {
    const abort = new AbortController();
    running.set(one.number, abort);
    change(one.number, { state: 'sending', sent: 0, failure: null });
    let before = 0;
    const progress = (sent: number) => {
      begun.bytes += sent - before;
      before = sent;
      const speed = begun.bytes / Math.max(0.3, (performance.now() - begun.at) / 1000);
      queue = { ...queue, speed };
      change(one.number, { sent });
    };
    try {
      await makeFolders(one, depths.get(one.number) ?? one.path.length);
      abort.signal.throwIfAborted(); // taken back while its folders were made
      const received = await upload(one.path, one.file, replaced.get(one.number) ?? null, progress, abort.signal);
      change(one.number, { state: 'done', sent: one.file.size, received });
      set({ arrived: queue.arrived + 1 });
    } catch (cause) {
      if (find(one.number)) refused(one, asFailure(cause));
    } finally {
      running.delete(one.number);
      next();
    }
  }

  function next(): void {
    if (running.size === 0) Object.assign(begun, { at: performance.now(), bytes: 0 });
    while (running.size < atOnce && !queue.paused) {
      const one = queue.all.find(({ state, number }) => state === 'waiting' && !running.has(number));
      if (!one) break;
      void send(one);
    }
    if (running.size > 0) return;
    folders.clear(); // they may be gone by the next time
    if (queue.paused && !queue.all.some(({ state }) => state === 'waiting')) set({ paused: false });
  }

  /** It takes the place of what lies there at this moment. */
  async function replace(one: Sending): Promise<void> {
    try {
      const validator = await validatorOf(one.path);
      if (validator !== null) replaced.set(one.number, validator);
      change(one.number, { state: 'waiting', failure: null });
    } catch (cause) {
      change(one.number, { state: 'failed', failure: asFailure(cause) });
    }
    next();
  }

  function again(one: Sending): void {
    if (!canTryAgain(one)) return;
    replaced.delete(one.number);
    if (one.path.length === 0) void replace(one);
    else change(one.number, { state: 'waiting', failure: null });
  }

  function settle(one: Sending, choice: Choice): void {
    if (choice === 'skip') set({ all: queue.all.filter(({ number }) => number !== one.number) });
    else if (choice === 'replace') void replace(one);
    else {
      beside.add(one.number);
      change(one.number, { state: 'waiting', path: besides(one.path) });
    }
    next();
  }

  return {
    add(files, path) {
      const added = files.map(({ file, folder, unreadable: broken = false }): Sending => {
        const one = waiting(file, [...path, ...(makesFolders ? folder : []), file.name]);
        return broken ? { ...one, state: 'failed', failure: unreadable() } : one;
      });
      for (const { number } of added) depths.set(number, path.length);
      append(added);
    },
    replaceShared(file, validator) {
      const one = waiting(file, []);
      replaced.set(one.number, validator);
      append([one]);
    },
    again(number) {
      const one = find(number);
      if (one) again(one);
      next();
    },
    againAll() {
      for (const one of queue.all) again(one);
      next();
    },
    cancel(number) {
      set({ all: queue.all.filter((one) => one.number !== number) });
      running.get(number)?.abort();
      next();
    },
    answer(number, choice, forAll) {
      for (const one of queue.all) if (one.state === 'asking' && (forAll || one.number === number)) settle(one, choice);
    },
    pause: () => set({ paused: true }),
    resume() {
      set({ paused: false });
      next();
    },
    clear: () => set({ all: queue.all.filter(({ state }) => state !== 'done' && state !== 'failed') }),
  };
}
