import { type Frame, noBytes, readFrames, writeFrame } from './frames.ts';

const maxTaskBytes = 2 ** 31 - 1;
/** Exit code of a process whose WebAssembly was aborted, usually for lack of memory: its memory is in no known state. */
export const abortedExitCode = 70;

/** The task cannot be done, for example because its document is damaged. The sender of the task knows the words for `reason`. */
export class TaskRefused extends Error {
  readonly reason: string;

  constructor(reason: string) {
    super(reason);
    this.reason = reason;
  }
}

/**
 * The loop of a sandboxed process: answers the tasks that arrive at standard input, one at a time, at standard output. Ends when the input
 * ends.
 */
export async function serveTasks(work: (task: Frame) => Promise<Frame>): Promise<void> {
  for await (const task of readFrames(process.stdin, maxTaskBytes)) {
    try {
      await writeFrame(process.stdout, await work(task));
    } catch (cause) {
      if (cause instanceof Error && cause.name === 'RuntimeError') process.exit(abortedExitCode);
      const reason = cause instanceof TaskRefused ? cause.reason : 'failed';
      await writeFrame(process.stdout, { header: { refused: reason }, bytes: noBytes });
    }
  }
}
