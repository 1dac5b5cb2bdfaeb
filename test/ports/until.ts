/** Waits until the condition is true. The timeout of the test ends a wait that never succeeds. */
export async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(setImmediate);
}
