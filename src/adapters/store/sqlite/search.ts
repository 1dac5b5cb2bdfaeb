import type { Worker } from 'node:worker_threads';
import { startThread } from '#adapters/os/thread.ts';
import type { Answer, Ask } from '#adapters/store/kysely-over.ts';

interface Pending {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (cause: Error) => void;
}
interface Answered {
  readonly number: number;
  readonly answer?: Answer;
  readonly problem?: string;
}

/** Long questions go to a thread with a connection of its own, begun with the first: they hold up nobody else. */
export function searchThread(file: string): { ask: Ask } & AsyncDisposable {
  const pending = new Map<number, Pending>();
  let last = 0;
  let thread: Worker | undefined;
  const failAll = (cause: Error) => {
    for (const { reject } of pending.values()) reject(cause);
    pending.clear();
    thread = undefined;
  };
  function begin(): Worker {
    const begun = startThread('./search-thread', import.meta.url, file);
    begun.on('message', ({ number, answer, problem }: Answered) => {
      const waiting = pending.get(number);
      pending.delete(number);
      if (answer) waiting?.resolve(answer);
      else waiting?.reject(new Error(problem));
      if (pending.size === 0) begun.unref();
    });
    begun.on('error', (cause) => failAll(cause instanceof Error ? cause : new Error(String(cause))));
    begun.on('exit', () => failAll(new Error('the search thread ended')));
    return begun;
  }
  return {
    ask: (sql, parameters) =>
      new Promise((resolve, reject) => {
        thread ??= begin();
        thread.ref();
        last += 1;
        pending.set(last, { resolve, reject });
        thread.postMessage({ number: last, sql, parameters });
      }),
    async [Symbol.asyncDispose]() {
      await thread?.terminate();
    },
  };
}
