import type { Worker } from 'node:worker_threads';
import { startThread } from './thread.ts';

const idleTimeout = 60_000; // ms without work until the thread ends: there may be thousands of locations

/** A thread that starts with the first message to it, and ends after a minute without work. */
export interface IdleThread extends AsyncDisposable {
  post(message: unknown): void;
  /** Call it when all messages are answered: the thread then keeps no process alive, and ends after a minute. */
  startIdleTimer(): void;
}

/** Callbacks of the code that uses the thread. */
interface Owner<Response> {
  receive(response: Response): void;
  /** Called when pending requests will get no response: the thread ended or could not start. */
  rejectPending(): void;
  /** Returns whether the thread may end without losing work. */
  isIdle(): boolean;
}

/**
 * Returns a thread that is not started yet.
 * @param name the thread's script, relative to `moduleUrl`, without its extension
 * @param moduleUrl `import.meta.url` of the calling module
 */
export function idleThread<Response>(name: string, moduleUrl: string, owner: Owner<Response>, workerData?: unknown): IdleThread {
  let thread: Worker | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function endIfIdle(): void {
    if (!owner.isIdle()) return;
    const idle = thread;
    thread = undefined; // the next message starts another thread
    void idle?.terminate();
  }
  function start(): Worker {
    const worker = startThread(name, moduleUrl, workerData);
    const handleEnd = () => {
      if (thread !== worker) return; // the pending requests belong to the thread that replaced it
      thread = undefined;
      owner.rejectPending();
    };
    return worker
      .on('message', (response: Response) => owner.receive(response))
      .on('error', handleEnd)
      .on('exit', handleEnd);
  }
  return {
    post(message) {
      if (isClosed) return owner.rejectPending();
      try {
        thread ??= start();
      } catch {
        return owner.rejectPending(); // for example, the machine allows no further thread
      }
      thread.ref();
      thread.postMessage(message);
    },
    startIdleTimer() {
      thread?.unref();
      if (timer) timer.refresh();
      else timer = setTimeout(endIfIdle, idleTimeout).unref();
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      clearTimeout(timer);
      await thread?.terminate();
    },
  };
}
