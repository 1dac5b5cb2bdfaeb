import { LRUCache } from 'lru-cache';
import { DocumentUnusable, RendererUnavailable } from '#ports/documents.ts';
import type { Frame } from './sandbox/frames.ts';
import { SandboxedProcess, SandboxFailure, type SandboxOptions } from './sandbox/sandboxed-process.ts';

const startTime = 4000; // ms that a task has in addition if its process must be started first
const maxOpened = 8;
const idleTime = 60_000; // ms without a task until the process ends

/** Returns the error for a refusal that a process reports. */
function errorOf(refused: unknown): Error {
  if (refused === 'damaged' || refused === 'encrypted' || refused === 'certified' || refused === 'noSuchPage')
    return new DocumentUnusable(refused);
  if (refused === 'tooManyPages' || refused === 'tooLarge' || refused === 'memory') return new DocumentUnusable('tooCostly');
  return new DocumentUnusable('damaged'); // the libraries fail in many ways at damaged documents
}

/** The process of one tenant for one kind of documents. It starts with `prepare` or a task, and ends after some time without tasks. */
export class ProcessLane implements AsyncDisposable {
  readonly #options: SandboxOptions;
  #process: SandboxedProcess | null = null;
  #idleTimer: NodeJS.Timeout | undefined;
  /** The documents that the process has got. It keeps only those that were used last. */
  readonly opened = new LRUCache<string, true>({ max: maxOpened });
  /** A task that `prepare` has sent. */
  #preparation: Promise<unknown> | null = null;

  constructor(options: SandboxOptions) {
    this.#options = options;
  }

  /**
   * Runs a task. Another one must not run at the same time.
   * @param taskTime ms
   * @returns null if the process does not have the document of the task
   * @throws DocumentUnusable, RendererUnavailable
   */
  async run(task: Frame, taskTime: number): Promise<Frame | null> {
    await this.#preparation;
    return this.#runNow(task, this.isRunning ? taskTime : taskTime + startTime);
  }

  async #runNow(task: Frame, taskTime?: number): Promise<Frame | null> {
    const process = this.#start();
    try {
      const answer = await process.run(task, taskTime);
      if (answer.header['refused'] === undefined) return answer;
      if (answer.header['refused'] === 'unknown') return null;
      throw errorOf(answer.header['refused']);
    } catch (cause) {
      if (!(cause instanceof SandboxFailure)) throw cause;
      if (cause.why === 'ended') throw new RendererUnavailable('the process has ended, or cannot be started', { cause });
      throw new DocumentUnusable('tooCostly', { cause });
    } finally {
      this.#endWhenIdle();
    }
  }

  get isRunning(): boolean {
    return this.#process?.isAlive ?? false;
  }

  /** Starts the process before it is needed. It then ends after some time, as after any task. @param task prepares the process */
  prepare(task: Frame): void {
    if (this.isRunning || this.#preparation) return;
    // If it cannot be started now, for example for lack of descriptors, the first task tries again.
    this.#preparation = this.#runNow(task)
      .catch(() => {})
      .finally(() => {
        this.#preparation = null;
      });
  }

  /** Returns the running process, and stops the timer that ends it. `#endWhenIdle` starts this timer. @throws RendererUnavailable */
  #start(): SandboxedProcess {
    clearTimeout(this.#idleTimer);
    if (this.#process?.isAlive) return this.#process;
    try {
      this.opened.clear();
      this.#process = new SandboxedProcess(this.#options);
      return this.#process;
    } catch (cause) {
      throw new RendererUnavailable('the process cannot be started', { cause });
    }
  }

  #endWhenIdle(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => void this[Symbol.asyncDispose](), idleTime).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearTimeout(this.#idleTimer);
    const ended = this.#process;
    this.#process = null;
    await ended?.end();
  }
}
