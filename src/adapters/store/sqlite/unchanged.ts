import type { Database } from '#ports/tables.ts';

const mostKept = 5000;
const longestKey = 512; // characters; longer ones come from outside, and would fill the memory

/** What happened, not what holds: a visit that is recorded makes nobody ask again. */
const trail = ['audit', 'ongoing', 'alert', 'alert_list', 'unsettled'] as const satisfies readonly (keyof Database)[];
const isTrail: ReadonlySet<string> = new Set([...trail, 'sqlite_sequence']);

/** Answers that hold until a commit changes more than the trail: one process writes, so that it knows of every change. */
export interface Unchanged {
  ask<T>(key: string, ask: () => Promise<T>): Promise<T>;
  /** Changes of these tables were committed. */
  forget(changed: ReadonlySet<string>): void;
}

export function unchangedAnswers(): Unchanged {
  const kept = new Map<string, Promise<unknown>>();
  return {
    ask<T>(key: string, ask: () => Promise<T>): Promise<T> {
      if (key.length > longestKey) return ask();
      const known = kept.get(key);
      // The key names the question, and with it the type of the answer.
      if (known) return known as Promise<T>;
      const asked = ask();
      if (kept.size >= mostKept) kept.clear();
      kept.set(key, asked);
      asked.catch(() => kept.delete(key));
      return asked;
    },
    forget(changed) {
      if (!changed.isSubsetOf(isTrail)) kept.clear();
    },
  };
}
