import { type IdleThread, idleThread } from '#adapters/os/idle-thread.ts';
import { type Directories, DirectoryRefused, DirectoryUnavailable } from '#ports/directory.ts';
import { type Outbound, ResponseTooLarge } from '#ports/outbound.ts';
import type { CompleteResponse } from './provider-request.ts';
import { type DirectoryTask, errorOfFailure, type ProviderResult, type ProviderTask } from './provider-tasks.ts';

const timeLimit = 12_000; // ms for a request without a signal
const directoryTimeLimit = 4800; // ms: `Directories` promises a result within five seconds
/** Options that tests replace. */
interface ThreadOptions {
  readonly script: { readonly name: string; readonly moduleUrl: string };
  /** ms until a thread that does not respond to a ping is replaced. */
  readonly pingTimeLimit: number;
}
const defaultOptions: ThreadOptions = { script: { name: './provider-thread', moduleUrl: import.meta.url }, pingTimeLimit: 3000 };
const threadEnded = { kind: null, message: 'The thread for requests to providers has ended. The next request starts a new one.' } as const;

type NewTask = ProviderTask extends infer Task ? (Task extends unknown ? Omit<Task, 'id'> : never) : never;

/**
 * Talks to identity providers and directories in a thread: tenants name these servers, and a response could keep a parser busy for
 * seconds, or fill the memory. A thread that does not respond is replaced.
 */
export class ThreadedProviders implements AsyncDisposable {
  readonly #privateTargets: string;
  readonly #options: ThreadOptions;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #thread: IdleThread | undefined;
  #lastId = 0;
  #isPinged = false;

  /** @param privateTargets networks that the operator has allowed, in the packed form of address-range.ts */
  constructor(privateTargets: string, options = defaultOptions) {
    this.#privateTargets = privateTargets;
    this.#options = options;
  }

  /** As `Outbound.request`. The response is read completely before it is returned. */
  readonly request: Outbound['request'] = async (url, { signal, ...request } = {}) => {
    const result = await this.#run({ http: { url: url.href, request } }, signal ?? AbortSignal.timeout(timeLimit));
    const { status, headers, content } = result as CompleteResponse; // the type of the result depends on the task
    return {
      status,
      headers,
      body: bodyOf(content),
      async read(maxBytes) {
        if (content.length > maxBytes) throw new ResponseTooLarge(`the response is longer than ${maxBytes} bytes`);
        return content;
      },
      discard() {},
    };
  };

  readonly directories: Directories = {
    find: (directory, username) => this.#queryDirectory({ method: 'find', directory, username }),
    verify: (directory, dn, password) => this.#queryDirectory({ method: 'verify', directory, dn, password }),
    signInByPattern: (directory, username, password) => this.#queryDirectory({ method: 'signInByPattern', directory, username, password }),
    async [Symbol.asyncDispose]() {},
  };

  async [Symbol.asyncDispose]() {
    await this.#thread?.[Symbol.asyncDispose]();
  }

  async #queryDirectory<T>(directory: DirectoryTask): Promise<T> {
    const result = await this.#run({ directory }, AbortSignal.timeout(directoryTimeLimit)).catch((cause: unknown) => {
      if (cause instanceof DirectoryRefused || cause instanceof DirectoryUnavailable) throw cause;
      throw new DirectoryUnavailable('The directory did not respond as expected, or not in time.', { cause });
    });
    return result as T; // the type of the result depends on the task
  }

  async #run(task: NewTask, signal: AbortSignal): Promise<unknown> {
    signal.throwIfAborted();
    const { id, waiting } = this.#newTask();
    const abort = () => {
      waiting.reject(signal.reason);
      this.#post({ id, abort: id });
      this.#replaceIfBlocked();
    };
    signal.addEventListener('abort', abort, { once: true });
    this.#post({ id, ...task });
    try {
      return await waiting.promise;
    } finally {
      signal.removeEventListener('abort', abort);
      this.#end(id);
    }
  }

  #newTask() {
    this.#lastId += 1;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(this.#lastId, waiting);
    return { id: this.#lastId, waiting };
  }

  #end(id: number): void {
    this.#waiting.delete(id);
    if (this.#waiting.size === 0) this.#thread?.startIdleTimer();
  }

  /** Sends a ping to the thread, and replaces the thread if it does not respond. */
  #replaceIfBlocked(): void {
    if (this.#isPinged) return;
    this.#isPinged = true;
    const pingedThread = this.#thread;
    const { id, waiting } = this.#newTask();
    const timer = setTimeout(() => {
      this.#thread = undefined; // the next task gets another thread
      void pingedThread?.[Symbol.asyncDispose]();
      this.#rejectPending();
    }, this.#options.pingTimeLimit);
    this.#post({ id, ping: true });
    waiting.promise
      .catch(() => {})
      .finally(() => {
        clearTimeout(timer);
        this.#isPinged = false;
        this.#end(id);
      });
  }

  #post(task: ProviderTask): void {
    this.#thread ??= this.#startThread();
    this.#thread.post(task);
  }

  #startThread(): IdleThread {
    const { name, moduleUrl } = this.#options.script;
    const thread: IdleThread = idleThread<ProviderResult>(
      name,
      moduleUrl,
      {
        receive: (result) => {
          const waiting = this.#waiting.get(result.id);
          if ('value' in result) waiting?.resolve(result.value);
          else waiting?.reject(errorOfFailure(result.failure));
        },
        rejectPending: () => {
          if (this.#thread === thread) this.#rejectPending();
        },
        isIdle: () => this.#waiting.size === 0,
      },
      () => this.#privateTargets,
    );
    return thread;
  }

  #rejectPending(): void {
    for (const { reject } of this.#waiting.values()) reject(errorOfFailure(threadEnded));
  }
}

async function* bodyOf(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content;
}
