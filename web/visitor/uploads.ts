import { useRef, useState } from 'preact/hooks';
import { Failure, type Received, upload } from './link-api.ts';
import { uploadWords } from './words.ts';

const atOnce = 3; // more share the same line without being faster

/** One file on its way. */
export interface Sending {
  readonly number: number;
  readonly file: File;
  readonly path: readonly string[];
  readonly sent: number;
  readonly state: 'waiting' | 'sending' | 'done' | 'failed';
  readonly problem: string;
  readonly received: Received | null;
}

/** Files on their way, and what can be done about them. */
export interface Uploads {
  readonly all: readonly Sending[];
  /** Raised with every file that has arrived: what shows the folder looks again. */
  readonly arrived: number;
  /** Bytes a second, over all that is under way. */
  readonly speed: number;
  add(files: readonly File[], folder: readonly string[]): void;
  again(number: number): void;
  cancel(number: number): void;
  clear(): void;
}

/** A queue of uploads that goes on while one looks at other folders. */
export function useUploads(): Uploads {
  const [all, setAll] = useState<readonly Sending[]>([]);
  const [arrived, setArrived] = useState(0);
  const [speed, setSpeed] = useState(0);
  const running = useRef(new Map<number, AbortController>());
  const queue = useRef<Sending[]>([]);
  const last = useRef(0);
  const begun = useRef({ at: 0, bytes: 0 });

  const change = (number: number, over: Partial<Sending>) =>
    setAll((known) => known.map((one) => (one.number === number ? { ...one, ...over } : one)));

  function progress(number: number, before: number, sent: number): number {
    begun.current.bytes += sent - before;
    setSpeed(begun.current.bytes / Math.max(0.3, (performance.now() - begun.current.at) / 1000));
    change(number, { sent });
    return sent;
  }

  async function send(one: Sending): Promise<void> {
    const abort = new AbortController();
    running.current.set(one.number, abort);
    change(one.number, { state: 'sending', sent: 0, problem: '' });
    let sent = 0;
    try {
      const received = await upload(
        one.path,
        one.file,
        (bytes) => {
          sent = progress(one.number, sent, bytes);
        },
        abort.signal,
      );
      change(one.number, { state: 'done', sent: one.file.size, received });
      setArrived((count) => count + 1);
    } catch (cause) {
      change(one.number, { state: 'failed', problem: cause instanceof Failure ? uploadWords(cause) : 'That did not work.' });
    } finally {
      running.current.delete(one.number);
      next();
    }
  }

  function next(): void {
    if (running.current.size === 0) begun.current = { at: performance.now(), bytes: 0 };
    while (running.current.size < atOnce) {
      const one = queue.current.shift();
      if (!one) return;
      void send(one);
    }
  }

  return {
    all,
    arrived,
    speed,
    add(files, folder) {
      const added = files.map((file): Sending => {
        last.current += 1;
        return { number: last.current, file, path: [...folder, file.name], sent: 0, state: 'waiting', problem: '', received: null };
      });
      setAll((known) => [...known, ...added]);
      queue.current.push(...added);
      next();
    },
    again(number) {
      const one = all.find((known) => known.number === number);
      if (!one) return;
      change(number, { state: 'waiting', problem: '' });
      queue.current.push(one);
      next();
    },
    cancel(number) {
      running.current.get(number)?.abort();
      queue.current = queue.current.filter((one) => one.number !== number);
      setAll((known) => known.filter((one) => one.number !== number));
    },
    clear: () => setAll((known) => known.filter((one) => one.state === 'waiting' || one.state === 'sending')),
  };
}
