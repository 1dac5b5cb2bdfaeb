import assert from 'node:assert/strict';
import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { defaultTimeouts } from './request-timeouts.ts';
import { createHttpServer } from './server.ts';

/** Starts a server that answers with the address of the client. */
async function startServer(t: TestContext) {
  const clientAddress = new AsyncLocalStorage<string>();
  const settings = { trustedProxies: ['127.0.0.1'], log: null, timeouts: defaultTimeouts, clientAddress, writeAccessEntry: null };
  const app = createHttpServer(settings, { clock: { now: Date.now }, random: { token: () => 'token', digits: () => '' } });
  t.after(() => {
    app.server.closeAllConnections(); // `close` would wait for bodies that never arrive
    return app.close();
  });
  const received = new Promise<void>((resolve) =>
    app.addHook('onRequest', (_request, _reply, done) => {
      resolve();
      done();
    }),
  );
  app.all('/', async () => ({ address: clientAddress.getStore() }));
  return { url: await app.listen({ host: '127.0.0.1', port: 0 }), received };
}

for (const forwarded of ['192.0.2.7', '192.0.2.7:52100'])
  test(`the address of the client is known while its request runs, if a proxy forwards ${forwarded}`, async (t) => {
    const { url } = await startServer(t);
    const response = await fetch(url, { headers: { 'x-forwarded-for': forwarded } });
    assert.deepEqual(await response.json(), { address: '192.0.2.7' });
  });

test('the address of the client is known even if the body arrives later than the headers', async (t) => {
  const { url, received } = await startServer(t);
  const headers = { 'x-forwarded-for': '192.0.2.7', 'content-type': 'application/json', 'content-length': 2 };
  const clientRequest = request(url, { method: 'POST', headers });
  clientRequest.write('{');
  await received;
  clientRequest.end('}');
  const [response] = await once(clientRequest, 'response');
  assert.deepEqual(JSON.parse(await text(response)), { address: '192.0.2.7' });
});

test('a body that exceeds the limit on arriving bodies of its wide network is refused, and its connection is closed', async (t) => {
  const { url } = await startServer(t);
  const headers = { 'content-type': 'application/json', 'content-length': 1 << 20 };
  const post = () => {
    const clientRequest = request(url, { method: 'POST', headers }).on('error', () => {});
    t.after(() => clientRequest.destroy());
    clientRequest.write('{');
    return once(clientRequest, 'response');
  };
  const [refusedResponse] = await Promise.race(Array.from({ length: 33 }, post)); // 32 MiB are the limit
  assert.equal(refusedResponse.statusCode, 503);
  assert.equal(refusedResponse.headers.connection, 'close');
});
