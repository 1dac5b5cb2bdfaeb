import { setTimeout as sleep } from 'node:timers/promises';

const pollInterval = 5; // ms; a loop without pauses would slow down the work that it waits for

/** Waits until the condition is true. The timeout of the test ends a wait that never succeeds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(pollInterval);
}
