const mostKept = 5000;

/** Answers that hold until the next commit: one process writes, so that it knows of every change. */
export interface Unchanged {
  ask<T>(key: string, ask: () => Promise<T>): Promise<T>;
  /** A change was committed. */
  forget(): void;
}

export function unchangedAnswers(): Unchanged {
  const kept = new Map<string, Promise<unknown>>();
  return {
    ask<T>(key: string, ask: () => Promise<T>): Promise<T> {
      const known = kept.get(key);
      // The key names the question, and with it the type of the answer.
      if (known) return known as Promise<T>;
      const asked = ask();
      if (kept.size >= mostKept) kept.clear();
      kept.set(key, asked);
      asked.catch(() => kept.delete(key));
      return asked;
    },
    forget: () => kept.clear(),
  };
}
