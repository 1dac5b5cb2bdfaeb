import { LRUCache } from 'lru-cache';
import { type DocumentSender, DocumentUnusable, RendererUnavailable } from '#ports/documents.ts';
import { SandboxFailure } from './sandbox/sandboxed-process.ts';

const [taskTime, shortTaskTime] = [20_000, 3000]; // ms
const [maxRemembered, rememberedTime] = [1000, 600_000]; // ms

/**
 * Remembers the tasks that took too much time or memory, and who sent them, for ten minutes: the same task is refused at once, and other
 * tasks of this sender get less time. So nobody can keep the only process of a tenant busy with costly documents.
 */
export class CostlyTasks {
  readonly #failures = new LRUCache<string, DocumentUnusable>({ max: maxRemembered, ttl: rememberedTime });
  readonly #senders = new LRUCache<string, true>({ max: maxRemembered, ttl: rememberedTime });

  /** @throws DocumentUnusable (`tooCostly`) if the task has failed before */
  checkTask(key: string): void {
    const failure = this.#failures.get(key);
    if (failure) throw failure;
  }

  /**
   * Runs a task with the time that its sender has.
   * @param key the same for tasks that cost the same; null: this is not known
   * @throws as `work` and `checkTask`; RendererUnavailable if the shorter time is not enough
   */
  async run<T>({ tid, group }: DocumentSender, key: string | null, work: (taskTime: number) => Promise<T>): Promise<T> {
    if (key !== null) this.checkTask(key);
    const sender = `${tid} ${group}`;
    const hasLessTime = this.#senders.has(sender);
    try {
      return await work(hasLessTime ? shortTaskTime : taskTime);
    } catch (cause) {
      if (!(cause instanceof DocumentUnusable && cause.cause instanceof SandboxFailure)) throw cause;
      this.#senders.set(sender, true);
      if (hasLessTime && cause.cause.why === 'time')
        throw new RendererUnavailable('the sender has less time after a costly task', { cause });
      if (key !== null) this.#failures.set(key, cause);
      throw cause;
    }
  }
}
