import { LRUCache } from 'lru-cache';
import { type DocumentSender, DocumentUnusable } from '#ports/documents.ts';
import { SandboxFailure } from './sandbox/sandboxed-process.ts';

const [defaultMax, rememberedTime] = [10_000, 600_000]; // ms

/** Returns why a task was stopped; null: it has failed for another reason. */
export const stopReason = (cause: unknown): 'time' | 'memory' | 'answer' | null =>
  cause instanceof DocumentUnusable && cause.cause instanceof SandboxFailure && cause.cause.why !== 'ended' ? cause.cause.why : null;

/** Remembers for ten minutes which tasks failed, mostly because they took too much time or memory, and who has sent tasks that took long. */
export class CostlyTasks {
  readonly #failures: LRUCache<string, DocumentUnusable>;
  readonly #slowSenders: LRUCache<string, true>;

  /** @param max of the tasks and of the senders that are remembered */
  constructor(max = defaultMax) {
    this.#failures = new LRUCache({ max, ttl: rememberedTime });
    this.#slowSenders = new LRUCache({ max, ttl: rememberedTime });
  }

  /** @throws DocumentUnusable if the task has failed before */
  checkTask(key: string): void {
    const failure = this.#failures.get(key);
    if (failure) throw failure;
  }

  noteFailure(key: string, failure: DocumentUnusable): void {
    this.#failures.set(key, failure);
  }

  isSlow({ tid, group }: DocumentSender): boolean {
    return this.#slowSenders.has(`${tid} ${group}`);
  }

  noteSlow({ tid, group }: DocumentSender): void {
    this.#slowSenders.set(`${tid} ${group}`, true);
  }
}
