import type { Worker } from 'node:worker_threads';
import { endThread, startThread } from './thread.ts';

const defaultIdleTime = 60_000; // ms without work until the thread ends: each of thousands of locations may have a thread

/** A thread that starts with the first message to it, and ends after some time without work. */
export interface IdleThread extends AsyncDisposable {
  /**
   * Sends a message to the thread. If that fails, ends the thread and rejects the pending requests.
   * @param moved memory in the message that is moved to the thread instead of being copied
   */
  post(message: unknown, moved?: readonly ArrayBuffer[]): void;
  /**
   * Call it when all messages are answered. The thread then does not keep the process alive, and ends after the idle time.
   * @param idleTime ms
   */
  startIdleTimer(idleTime?: number): void;
}

/** A thread that can also be ended before its idle time is over. */
export interface EndableThread extends IdleThread {
  /** Ends the thread at once. Call it when all messages are answered. */
  end(): void;
}

/** Callbacks of the code that uses the thread. */
export interface ThreadOwner<Response> {
  receive(response: Response): void;
  /** Called when pending requests will get no response: the thread ended, could not start, or was closed before. */
  rejectPending(): void;
  /** Returns whether the thread may end without losing work. */
  isIdle(): boolean;
  /** Called each time the thread ends or cannot start. Unless the owner has closed it, the next message starts another thread. */
  onEnd?(): void;
}

/**
 * Returns a thread that is not started yet.
 * @param name the thread's script, relative to `moduleUrl`, without its extension
 * @param moduleUrl `import.meta.url` of the calling module
 * @param workerData returns the data for a thread that starts
 */
export function idleThread<Response>(
  name: string,
  moduleUrl: string,
  owner: ThreadOwner<Response>,
  workerData: () => unknown = () => undefined,
): EndableThread {
  let thread: Worker | undefined;
  let timer: NodeJS.Timeout | undefined;
  let timerTime = 0; // ms
  let isClosed = false;

  function release(): void {
    const endedThread = thread;
    thread = undefined; // the next message starts another thread
    void endedThread?.terminate();
    owner.onEnd?.();
  }
  function fail(): void {
    release();
    owner.rejectPending();
  }
  function start(): Worker {
    const worker = startThread(name, moduleUrl, workerData());
    const handleEnd = () => {
      if (thread === worker) fail(); // otherwise, the pending requests belong to the thread that replaced it
    };
    return worker
      .on('message', (response: Response) => owner.receive(response))
      .on('error', handleEnd)
      .on('exit', handleEnd);
  }
  return {
    post(message, moved = []) {
      if (isClosed) return owner.rejectPending();
      try {
        thread ??= start();
        thread.ref();
        thread.postMessage(message, moved);
      } catch {
        fail(); // for example, the machine allows no further thread, or the message contains a function
      }
    },
    startIdleTimer(idleTime = defaultIdleTime) {
      thread?.unref();
      if (timer && idleTime === timerTime) return void timer.refresh();
      clearTimeout(timer);
      timerTime = idleTime;
      timer = setTimeout(() => {
        if (thread && owner.isIdle()) release();
      }, idleTime).unref();
    },
    end() {
      if (thread) release();
    },
    async [Symbol.asyncDispose]() {
      isClosed = true;
      clearTimeout(timer);
      if (thread) await endThread(thread);
    },
  };
}
