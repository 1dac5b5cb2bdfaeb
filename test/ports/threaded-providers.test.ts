import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { test } from 'node:test';
import { ThreadedProviders } from '#adapters/identity/threaded-providers.ts';
import { DirectoryUnavailable } from '#ports/directory.ts';
import { atEnd } from '../parts/at-end.ts';

/** Starts providers with a fake thread. The host name of a request selects how the thread fails: `silent`, `blocks` or `dies`. */
function startProviders(t: TestContext) {
  const script = { name: '../parts/fake-provider-thread', moduleUrl: import.meta.url };
  const providers = new ThreadedProviders('', { script, pingTimeLimit: 200 });
  atEnd(t, () => providers[Symbol.asyncDispose]());
  const request = async (host: string, signal?: AbortSignal) => {
    const { status, read } = await providers.request(new URL(`http://${host}/`), signal ? { signal } : {});
    return `${status} ${Buffer.from(await read(100)).toString()}`;
  };
  return { providers, request };
}

test('if the thread that sends requests to providers dies, requests fail, and the next request is sent by another thread', async (t) => {
  const { request } = startProviders(t);
  const pending = request('silent');
  await assert.rejects(request('dies'), /has ended/);
  await assert.rejects(pending, /has ended/);
  assert.equal(await request('works'), '200 text');
});

test('if the thread that talks to directories dies, the directory counts as unavailable', async (t) => {
  const { providers } = startProviders(t);
  const lookup = providers.directories.find({ url: 'ldaps://dies', baseDn: 'dc=test', tid: 1 }, 'ann');
  await assert.rejects(lookup, DirectoryUnavailable);
});

test('if the thread that sends requests to providers is blocked, it is replaced after a request runs out of time', async (t) => {
  const { request } = startProviders(t);
  const abortController = new AbortController();
  const [blockedRequest, pending] = [request('blocks', abortController.signal), request('works')];
  abortController.abort(new Error('out of time'));
  await assert.rejects(blockedRequest, /out of time/);
  await assert.rejects(pending, /has ended/);
  assert.equal(await request('works'), '200 text');
});

test('an aborted request does not end the thread if the thread still responds', async (t) => {
  const { request } = startProviders(t);
  const [abortController, pending] = [new AbortController(), request('silent')];
  const silent = request('silent', abortController.signal);
  abortController.abort(new Error('out of time'));
  await assert.rejects(silent, /out of time/);
  assert.equal(await request('works'), '200 text');
  assert.equal(await Promise.race([pending, request('works')]), '200 text');
  pending.catch(() => {});
});

test('a response that is longer than its reader allows is refused', async (t) => {
  const { providers } = startProviders(t);
  const { read } = await providers.request(new URL('http://works/'));
  await assert.rejects(read(3), /longer than 3 bytes/);
});
