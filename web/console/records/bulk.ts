import { asProblem, type ChangeOptions, type Problem } from '#console/api/call.ts';

/** Something that can be done to several records at once. */
export interface BulkAction<T> {
  readonly name: string;
  /** `will be deactivated`: behind the number of records. */
  readonly effect: string;
  /** `switched off`: behind the number of records, once it is done. */
  readonly doneText: string;
  /** What else it means, said before it is done. */
  readonly warning?: (records: readonly T[]) => string | Promise<string>;
  readonly destructive?: boolean;
  /** With `dryRun` the server says whether it would take it. */
  readonly run: (record: T, how: ChangeOptions) => Promise<unknown>;
  /** Takes back what was done; absent: it cannot be taken back. */
  readonly undo?: (record: T) => Promise<unknown>;
}

/** A record that an action does not take, and why. */
export interface RefusedRecord<T> {
  readonly record: T;
  readonly problem: Problem;
}

const concurrency = 8;

/** Does something to each of many, some at once. @param progress told of how many are through */
export async function runForEach<T>(
  records: readonly T[],
  run: (record: T) => Promise<unknown>,
  progress: (done: number) => void,
): Promise<{ readonly done: readonly T[]; readonly refused: readonly RefusedRecord<T>[] }> {
  const done: T[] = [];
  const refused: RefusedRecord<T>[] = [];
  const left = records.values();
  const work = async () => {
    for (const record of left) {
      try {
        await run(record);
        done.push(record);
      } catch (cause) {
        refused.push({ record, problem: asProblem(cause) });
      }
      progress(done.length + refused.length);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, work));
  return { done, refused };
}
