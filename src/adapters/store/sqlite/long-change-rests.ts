import type { CostQueue } from '#core/cost-queue.ts';

const longChange = 5; // ms; most changes take less than one
// The groups of long changes rest for this many times the duration of these changes and of their commit, to free the event loop.
const restFactor = 2;
const longChangeMemory = 1000; // ms for which a group counts as a group with long changes

interface CompletedChange {
  readonly group: string;
  /** ms. */
  readonly duration: number;
}

/** Pauses the groups of long changes, because such changes block the event loop. All groups with recent long changes pause together. */
export class LongChangeRests {
  readonly #queue: Pick<CostQueue<unknown>, 'pause' | 'resume'>;
  readonly #onEnd: () => void;
  /** When each group last had a long change; ms. */
  readonly #groups = new Map<string, number>();
  readonly #resting = new Set<string>();
  #restUntil = 0; // ms
  #timer: NodeJS.Timeout | undefined;

  /** @param onEnd called at the end of a rest, when the groups may continue */
  constructor(queue: Pick<CostQueue<unknown>, 'pause' | 'resume'>, onEnd: () => void) {
    this.#queue = queue;
    this.#onEnd = onEnd;
  }

  /** Begins or extends a rest if one of the changes was long. @param commitTime ms that the commit of the changes took */
  begin(changes: readonly CompletedChange[], commitTime: number): void {
    const long = changes.filter(({ duration }) => duration > longChange);
    if (long.length === 0) return;
    const now = performance.now();
    for (const { group } of long) this.#groups.set(group, now);
    for (const [group, at] of this.#groups) if (now - at > longChangeMemory) this.#groups.delete(group);
    for (const group of this.#groups.keys()) {
      this.#resting.add(group);
      this.#queue.pause(group);
    }
    const rest = restFactor * long.reduce((sum, { duration }) => sum + duration, commitTime);
    this.#restUntil = Math.max(this.#restUntil, now) + rest;
    this.#timer ??= setTimeout(() => this.#end(), rest);
  }

  #end(): void {
    const remaining = this.#restUntil - performance.now();
    this.#timer = remaining > 1 ? setTimeout(() => this.#end(), remaining) : undefined;
    if (this.#timer) return;
    for (const group of this.#resting) this.#queue.resume(group);
    this.#resting.clear();
    this.#onEnd();
  }
}
