// The script of the thread that sends requests to identity providers and directories. It also parses the responses of directories, which
// could otherwise block the main thread.
import { parentPort, workerData } from 'node:worker_threads';
import type { AddTurn } from '#adapters/net/guarded-http.ts';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { TenantTurns } from '#adapters/os/tenant-turns.ts';
import { LdapDirectories } from './ldap/ldap-directories.ts';
import type { CompleteResponse } from './provider-request.ts';
import { failureOf, type HttpTask, type ProviderResult, type ProviderTask, runDirectoryTask } from './provider-tasks.ts';

const defaultMaxBytes = 1 << 16;
const maxConnectionBytes = 4 << 20; // four times the limit of SAML metadata, which is the longest response

const turns = new TenantTurns(() => performance.now());
const addTurn: AddTurn = (tidOrNetwork, work) => turns.add(tidOrNetwork, work);
const outbound = guardedOutbound({ privateTargets: String(workerData), maxConnectionBytes, addTurn });
const directories = new LdapDirectories(outbound, { now: Date.now, monotonic: () => performance.now() });
const running = new Map<number, AbortController>();

async function send({ url, request }: HttpTask, signal: AbortSignal): Promise<CompleteResponse> {
  const { status, headers, read } = await outbound.request(new URL(url), { ...request, signal });
  return { status, headers, content: await read(request.maxBytes ?? defaultMaxBytes) };
}

async function run(task: ProviderTask): Promise<unknown> {
  if ('directory' in task) return runDirectoryTask(directories, task.directory);
  if (!('http' in task)) return null;
  const controller = new AbortController();
  running.set(task.id, controller);
  try {
    return await send(task.http, controller.signal);
  } finally {
    running.delete(task.id);
  }
}

parentPort?.on('message', async (task: ProviderTask) => {
  if ('abort' in task) return running.get(task.abort)?.abort();
  const { id } = task;
  const result: ProviderResult = await run(task).then(
    (value) => ({ id, value }),
    (cause: unknown) => ({ id, failure: failureOf(cause) }),
  );
  parentPort?.postMessage(result);
});
