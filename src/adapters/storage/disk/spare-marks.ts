import type { FolderThreads } from './folder-threads.ts';

const idleTime = 100; // ms
const maxTokens = 64;

/**
 * The marks (marks.ts) of small files whose upload is recorded. They are no longer needed as evidence, so the next uploads rename them
 * instead of creating their own, which would cost as much as writing a file. After a moment without uploads, they are deleted; if the
 * process ends before, a sweep deletes them.
 */
export class SpareMarks {
  readonly #threads: Pick<FolderThreads, 'data'>;
  #tokens: string[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(threads: Pick<FolderThreads, 'data'>) {
    this.#threads = threads;
  }

  /** @param token of the upload to which the mark belonged */
  add(token: string): void {
    this.#tokens.push(token);
    if (this.#tokens.length > maxTokens) void this.deleteAll();
    else if (this.#timer) this.#timer.refresh();
    else this.#timer = setTimeout(() => void this.deleteAll(), idleTime).unref();
  }

  /** Returns the token of a mark for another upload. null: there is none. */
  take(): string | null {
    return this.#tokens.pop() ?? null;
  }

  /** Deletes the marks with one command. If it fails, the rest stay until a sweep. */
  async deleteAll(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const tokens = this.#tokens.splice(0);
    if (tokens.length > 0) await this.#threads.data.run('deleteSpareMarks', [tokens], { always: true }).catch(() => {});
  }
}
