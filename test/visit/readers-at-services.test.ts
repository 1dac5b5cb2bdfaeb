import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { after, before, type TestContext, test } from 'node:test';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { packRangeText } from '#core/authorization/address-range.ts';
import { atEnd } from '../parts/at-end.ts';
import { type Azurite, hasAzurite, startAzurite } from '../parts/azurite.ts';
import { startCountingRelay } from '../parts/counting-relay.ts';
import { createContainer } from '../parts/open-azure.ts';
import { until } from '../ports/until.ts';
import { startPostern } from '../start.ts';
import { createShare, sendPath } from './visiting.ts';

const skip = hasAzurite ? false : 'azurite is not installed';
let server: Azurite;
before(async () => {
  if (hasAzurite) server = await startAzurite();
});
after(() => (hasAzurite ? server[Symbol.asyncDispose]() : undefined));

const size = 3 << 20;
const maxIdle = 40; // connections that may stay open for further requests

/** Publishes a file of a service, whose connections are counted. @returns a function that requests the file from one of many addresses */
async function startAtService(t: TestContext) {
  const outbound = guardedOutbound({ privateTargets: packRangeText('127.0.0.1') });
  atEnd(t, () => outbound[Symbol.asyncDispose]());
  const configuration = server.newConfiguration();
  await createContainer(configuration, outbound);
  const endpoint = new URL(configuration.endpoint ?? '');
  const relay = await startCountingRelay(Number(endpoint.port));
  atEnd(t, () => relay[Symbol.asyncDispose]());
  endpoint.port = `${relay.port}`;
  const postern = await startPostern(t, { environment: { POSTERN_PRIVATE_TARGETS: '127.0.0.1', POSTERN_TRUSTED_PROXIES: '127.0.0.1' } });
  await postern.call('location/add', {
    ...{ name: 'service', kind: 'azure' },
    configuration: JSON.stringify({ ...configuration, endpoint: `${endpoint}` }),
  });
  const { base } = await createShare(postern, { location: 'service' });
  assert.equal((await sendPath(postern, `${base}/file/large`, { method: 'PUT', body: 'x'.repeat(size) })).status, 201);
  const open = async (number: number): Promise<IncomingMessage> => {
    const headers = { 'x-forwarded-for': `10.${number % 200}.${Math.floor(number / 200)}.1` };
    const sent = request(`${postern.publicUrl}${base}/file/large`, { headers }).end();
    const [response] = await once(sent, 'response');
    return response;
  };
  const download = async () => (await sendPath(postern, `${base}/file/large`)).bytes.length;
  return { relay, open, download };
}

test('1,000 aborted downloads from a service leave no connection to it open', { skip }, async (t) => {
  const { relay, open, download } = await startAtService(t);
  for (let round = 0; round < 40; round += 1) {
    const responses = await Promise.all(Array.from({ length: 25 }, (_, index) => open(round * 25 + index)));
    for (const response of responses) {
      response.on('error', () => {});
      response.destroy();
    }
  }
  await until(() => relay.openCount() <= maxIdle);
  assert.equal(await download(), size);
});

test('200 visitors who do not read their downloads from a service keep nobody else from downloading', { skip }, async (t) => {
  const { relay, open, download } = await startAtService(t);
  const responses = await Promise.all(Array.from({ length: 200 }, (_, index) => open(index)));
  assert.ok(responses.every(({ statusCode }) => statusCode === 200 || statusCode === 503));
  assert.equal(await download(), size);
  for (const response of responses) {
    response.on('error', () => {});
    response.destroy();
  }
  await until(() => relay.openCount() <= maxIdle);
});
