import { asProblem, type ChangeOptions, type Problem } from '#console/api/call.ts';

/** An action that can run on several records at once. */
export interface BulkAction<T> {
  readonly name: string;
  /** What will happen, shown after the number of records: `will be deactivated`. */
  readonly effect: string;
  /** What happened, shown after the number of records: `deactivated`. */
  readonly doneText: string;
  /** Returns a further consequence that is shown before the action runs. */
  readonly warning?: (records: readonly T[]) => string | Promise<string>;
  readonly destructive?: boolean;
  /** Runs the action. With `dryRun` the server only checks it. */
  readonly run: (record: T, options: ChangeOptions) => Promise<unknown>;
  /** Undoes the action. Absent: it cannot be undone. */
  readonly undo?: (record: T) => Promise<unknown>;
}

/** A record for which an action failed, and the reason: the server refused it, or the connection was lost. */
export interface FailedRecord<T> {
  readonly record: T;
  readonly problem: Problem;
}

const concurrency = 8;

/** Runs an action on each record, eight at a time. @param progress called with the number of processed records, failed ones included */
export async function runForEach<T>(
  records: readonly T[],
  run: (record: T) => Promise<unknown>,
  progress: (done: number) => void,
): Promise<{ readonly done: readonly T[]; readonly failed: readonly FailedRecord<T>[] }> {
  const done: T[] = [];
  const failed: FailedRecord<T>[] = [];
  const remaining = records.values();
  const work = async () => {
    for (const record of remaining) {
      try {
        await run(record);
        done.push(record);
      } catch (cause) {
        failed.push({ record, problem: asProblem(cause) });
      }
      progress(done.length + failed.length);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return { done, failed };
}
