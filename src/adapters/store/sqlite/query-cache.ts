import type { Database } from '#ports/tables.ts';
import { textLength } from './text-length.ts';

const mostKept = 5000;
const mostText = 16 << 20; // characters of all answers together: a share may hold a quarter of a million
const longestKey = 512; // characters; longer ones come from outside, and would fill the memory

/** What happened, not what holds: a visit that is recorded makes nobody ask again. */
const trail = ['audit', 'ongoing', 'alert', 'alert_list', 'unsettled'] as const satisfies readonly (keyof Database)[];
const isTrail: ReadonlySet<string> = new Set([...trail, 'sqlite_sequence']);

/** Answers that hold until a commit changes more than the trail: one process writes, so that it knows of every change. */
export interface QueryCache {
  ask<T>(key: string, ask: () => Promise<T>): Promise<T>;
  /** Changes of these tables were committed. */
  forget(changed: ReadonlySet<string>): void;
}

export function queryCache(): QueryCache {
  const kept = new Map<string, Promise<unknown>>();
  let text = 0;
  function forgetAll(): void {
    kept.clear();
    text = 0;
  }
  /** Counts an answer that is still kept. One that has to go takes all others with it, as a change does. */
  function weigh(key: string, asked: Promise<unknown>, answer: unknown): void {
    if (kept.get(key) !== asked) return;
    text += textLength(answer);
    if (text > mostText) forgetAll();
  }
  return {
    ask<T>(key: string, ask: () => Promise<T>): Promise<T> {
      if (key.length > longestKey) return ask();
      const known = kept.get(key);
      // The key names the question, and with it the type of the answer.
      if (known) return known as Promise<T>;
      const asked = ask();
      if (kept.size >= mostKept) forgetAll();
      kept.set(key, asked);
      asked.then(
        (answer) => weigh(key, asked, answer),
        () => kept.delete(key),
      );
      return asked;
    },
    forget(changed) {
      if (!changed.isSubsetOf(isTrail)) forgetAll();
    },
  };
}
