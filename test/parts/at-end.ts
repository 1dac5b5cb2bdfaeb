import type { TestContext } from 'node:test';

const stacks = new WeakMap<TestContext, AsyncDisposableStack>();

/**
 * Registers cleanup work for the end of a test. The newest work runs first, so that a Postern is stopped before its folder
 * is deleted. The runner's own `t.after` runs the oldest first and would delete the folder of a running Postern.
 */
export function atEnd(t: TestContext, work: () => unknown): void {
  let stack = stacks.get(t);
  if (!stack) {
    const newStack = new AsyncDisposableStack();
    stacks.set(t, newStack);
    t.after(() => newStack.disposeAsync());
    stack = newStack;
  }
  stack.defer(async () => void (await work()));
}
