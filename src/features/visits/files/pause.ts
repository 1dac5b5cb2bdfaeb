/** Waits without keeping the process running. @param time ms */
export const pause = (time: number): Promise<void> => new Promise((resolve) => void setTimeout(resolve, time).unref());

/** Pauses between attempts in ms: each is twice as long as the one before, at most `longest`. After `maxWait`, no further pause begins. */
interface Waits {
  readonly first: number;
  readonly longest: number;
  readonly maxWait: number;
}

/** Repeats an attempt until it returns true. @returns whether it did in time @throws the errors of the attempt */
export async function succeedsInTime(attempt: () => Promise<boolean>, { first, longest, maxWait }: Waits): Promise<boolean> {
  const deadline = performance.now() + maxWait;
  for (let wait = first; !(await attempt()); wait = Math.min(2 * wait, longest)) {
    if (performance.now() > deadline) return false;
    await pause(wait);
  }
  return true;
}
