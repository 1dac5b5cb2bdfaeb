import type { Worker } from 'node:worker_threads';
import { startThread } from './thread.ts';

const idleFor = 60_000; // ms without work until the thread ends: there may be thousands of locations

/** A thread that starts with the first message to it, and ends when it has had no work for a minute. */
export interface IdleThread extends AsyncDisposable {
  post(message: unknown): void;
  /** Every message is answered: the thread keeps no process alive, and may end soon. */
  rest(): void;
}

/** What its owner does. */
interface Owner<Answer> {
  receive(answer: Answer): void;
  /** The thread ended before it answered. */
  lose(): void;
  /** Whether nothing would be lost if it ended. */
  isIdle(): boolean;
}

/** @param name the thread's script, beside the module at the URL `beside` */
export function idleThread<Answer>(name: string, beside: string, owner: Owner<Answer>, workerData?: unknown): IdleThread {
  let thread: Worker | undefined;
  let idle: NodeJS.Timeout | undefined;
  let closed = false;

  function endIdle(): void {
    if (!owner.isIdle()) return;
    const ended = thread;
    thread = undefined; // the next message starts another
    void ended?.terminate();
  }
  function begin(): Worker {
    const begun = startThread(name, beside, workerData);
    const end = () => {
      if (thread !== begun) return; // its successor's questions are not its own
      thread = undefined;
      owner.lose();
    };
    return begun
      .on('message', (answer: Answer) => owner.receive(answer))
      .on('error', end)
      .on('exit', end);
  }
  return {
    post(message) {
      if (closed) return owner.lose();
      try {
        thread ??= begin();
      } catch {
        return owner.lose(); // the machine gives no further thread now
      }
      thread.ref();
      thread.postMessage(message);
    },
    rest() {
      thread?.unref();
      if (idle) idle.refresh();
      else idle = setTimeout(endIdle, idleFor).unref();
    },
    async [Symbol.asyncDispose]() {
      closed = true;
      clearTimeout(idle);
      await thread?.terminate();
    },
  };
}
