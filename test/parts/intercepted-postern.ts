import type { TestContext } from 'node:test';
import { localStorages } from '../../src/adapters/storage/local-storages.ts';
import { type Start, startPostern, temporaryFolder } from '../start.ts';
import { atEnd } from './at-end.ts';
import { type Around, intercepted } from './intercepted.ts';

/** Starts a complete Postern with real parts. The test can delay any call of its storages, or make it fail. */
export async function startWithStorages(t: TestContext, before: Around, start: Start = {}, after?: Around) {
  const data = start.data ?? (await temporaryFolder(t));
  const storages = localStorages([], data);
  const ports = { ...start.replaced?.ports, storages: intercepted(storages, 'storages', before, after) };
  const postern = await startPostern(t, { ...start, data, replaced: { ...start.replaced, ports } });
  atEnd(t, () => storages[Symbol.asyncDispose]());
  return postern;
}

/** Starts a complete Postern in which one storage method waits until the test releases it. */
export async function startWithHeld(t: TestContext, held: string) {
  let calls = 0;
  const gate = Promise.withResolvers<void>();
  const postern = await startWithStorages(t, (method) => {
    if (method !== held) return undefined;
    calls += 1;
    return gate.promise;
  });
  return { postern, calls: () => calls, release: gate.resolve };
}
