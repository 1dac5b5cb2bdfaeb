import type { TestContext } from 'node:test';

const stacks = new WeakMap<TestContext, AsyncDisposableStack>();

/**
 * Cleans up after a test, the newest first: what was opened in a folder is closed before the folder goes. The
 * runner's own `t.after` runs the oldest first, and would take the disk away from under a running Postern.
 */
export function atEnd(t: TestContext, work: () => unknown): void {
  let stack = stacks.get(t);
  if (!stack) {
    const made = new AsyncDisposableStack();
    stacks.set(t, made);
    t.after(() => made.disposeAsync());
    stack = made;
  }
  stack.defer(async () => void (await work()));
}
