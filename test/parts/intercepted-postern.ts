import type { TestContext } from 'node:test';
import type { ThreadSettings } from '../../src/adapters/storage/disk/folder-threads.ts';
import { OpenFolders } from '../../src/adapters/storage/disk/open-folders.ts';
import { localStorages } from '../../src/adapters/storage/local-storages.ts';
import { type StartOptions, startPostern, temporaryFolder } from '../start.ts';
import { atEnd } from './at-end.ts';
import { type CallHook, intercept } from './intercept.ts';

/** Starts Postern. @param threads settings of the threads that run its disk commands */
export async function startWithThreads(t: TestContext, threads: ThreadSettings, start: StartOptions = {}) {
  const data = start.data ?? (await temporaryFolder(t));
  const storages = localStorages([], data, 0, new OpenFolders(100, threads));
  const ports = { ...start.replacements?.ports, storages };
  const postern = await startPostern(t, { ...start, data, replacements: { ...start.replacements, ports } });
  atEnd(t, () => storages[Symbol.asyncDispose]());
  return postern;
}

/** Starts Postern with real storages. The test can delay any call of the storages, or make it fail. */
export async function startWithStorages(t: TestContext, before: CallHook, start: StartOptions = {}, after?: CallHook) {
  const data = start.data ?? (await temporaryFolder(t));
  const storages = localStorages([], data);
  const ports = { ...start.replacements?.ports, storages: intercept(storages, 'storages', before, after) };
  const postern = await startPostern(t, { ...start, data, replacements: { ...start.replacements, ports } });
  atEnd(t, () => storages[Symbol.asyncDispose]());
  return postern;
}

/** Starts Postern with real storages, in which one storage method waits until the test releases it. */
export async function startWithBlockedMethod(t: TestContext, methodName: string) {
  let calls = 0;
  const gate = Promise.withResolvers<void>();
  const postern = await startWithStorages(t, (method) => {
    if (method !== methodName) return undefined;
    calls += 1;
    return gate.promise;
  });
  return { postern, calls: () => calls, release: gate.resolve };
}
