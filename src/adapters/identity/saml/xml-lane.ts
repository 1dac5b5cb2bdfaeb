import { type IdleThread, idleThread } from '#adapters/os/idle-thread.ts';
import { ResponseInvalid } from '#ports/provider-errors.ts';
import type { XmlResult, XmlTask } from './saml-thread.ts';

const timeLimit = 2000; // ms for one document
const unreadMessage = 'The XML could not be read: it takes too much time or memory, or the thread has ended.';

/**
 * Reads one document at a time in a thread. Ends the thread if a document takes too much time or memory: a short document can keep a
 * parser busy for seconds.
 */
export class XmlLane implements AsyncDisposable {
  #thread: IdleThread | undefined;
  #waiting: PromiseWithResolvers<unknown> | undefined;

  /** Returns whether a document is being read. */
  get isBusy(): boolean {
    return this.#waiting !== undefined;
  }

  /** Reads a document. Call it only while the lane is not busy. @returns what the thread has read @throws ResponseInvalid */
  async read(task: XmlTask): Promise<unknown> {
    const waiting = Promise.withResolvers<unknown>();
    const timer = setTimeout(() => this.#endThread(), timeLimit);
    this.#waiting = waiting;
    this.#thread ??= this.#startThread();
    this.#thread.post(task);
    try {
      return await waiting.promise;
    } finally {
      clearTimeout(timer);
      this.#waiting = undefined;
      this.#thread?.startIdleTimer();
    }
  }

  async [Symbol.asyncDispose]() {
    await this.#thread?.[Symbol.asyncDispose]();
  }

  #startThread(): IdleThread {
    const thread: IdleThread = idleThread<XmlResult>('./saml-thread', import.meta.url, {
      receive: (result) => {
        if ('value' in result) this.#waiting?.resolve(result.value);
        else this.#waiting?.reject(new ResponseInvalid(result.refusal));
      },
      rejectPending: () => {
        // A thread that has been replaced must not reject the document of the new thread.
        if (this.#thread === thread) this.#waiting?.reject(new ResponseInvalid(unreadMessage));
      },
      isIdle: () => this.#waiting === undefined,
    });
    return thread;
  }

  #endThread(): void {
    const thread = this.#thread;
    this.#thread = undefined; // the next document gets another thread
    void thread?.[Symbol.asyncDispose]();
    this.#waiting?.reject(new ResponseInvalid(unreadMessage));
  }
}
