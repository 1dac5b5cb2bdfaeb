/** Waits until the condition is true. The timeout of the test ends a wait that never succeeds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise(setImmediate);
}
