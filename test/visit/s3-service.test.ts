import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { storagesByKind } from '#adapters/storage/kinds.ts';
import { localStorages } from '#adapters/storage/local-storages.ts';
import { s3Kind } from '#adapters/storage/s3/s3-kind.ts';
import { packList } from '#core/authorization/address-range.ts';
import type { Storages } from '#ports/storages.ts';
import { atEnd } from '../parts/at-end.ts';
import { type FakeAnswer, startFakeS3 } from '../parts/fake-s3.ts';
import { until } from '../ports/until.ts';
import { startPostern, temporaryFolder } from '../start.ts';
import { visitEveryAction } from './every-action.ts';
import { linkTo } from './visiting.ts';

const emptyList = '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>';

/** Starts Postern with a link to a fake service, and a location `other` on the disk. */
async function startWithService(t: TestContext, answer: FakeAnswer) {
  const { configuration, closeConnections } = await startFakeS3(t, answer);
  const outbound = guardedOutbound({ privateTargets: packList('127.0.0.1') });
  const local = localStorages([], await temporaryFolder(t));
  const storages = storagesByKind({ local, s3: s3Kind(outbound) });
  atEnd(t, async () => {
    await storages[Symbol.asyncDispose]();
    await outbound[Symbol.asyncDispose]();
  });
  const atService = { kind: 's3', configuration: JSON.stringify(configuration) };
  const open: Storages['open'] = (location) => storages.open(location.id === 1 ? { ...location, ...atService } : location);
  const postern = await startPostern(t, { replaced: { ports: { storages: { open, configurationError: async () => null } } } });
  const { base } = await linkTo(postern);
  return { postern, base, closeConnections };
}

test('while an S3 service accepts requests and does not respond, other locations work, and its visitors get a response when it works again', async (t) => {
  const waiting: ServerResponse[] = [];
  let hangs = false;
  const { postern, base, closeConnections } = await startWithService(t, (_, response) =>
    hangs ? waiting.push(response) : response.end(emptyList),
  );
  const folder = join(postern.files, 'other');
  await mkdir(folder);
  await postern.call('location/add', { name: 'other', kind: 'local', configuration: JSON.stringify({ folder }) });
  hangs = true;
  const requests = Array.from({ length: 60 }, (_, index) => postern.visit(`${base}/${['list', 'file/doc', 'zip'][index % 3]}`));
  await until(() => waiting.length > 20);
  await visitEveryAction(postern, 'other');
  assert.equal((await postern.send('overview/get')).body.locations.length, 2);
  assert.equal((await postern.visit('/health/live')).status, 200);
  hangs = false;
  closeConnections();
  for (const { status } of await Promise.all(requests)) assert.ok([200, 404, 503].includes(status), `${status}`);
  assert.equal((await postern.visit(`${base}/list`)).status, 200);
});

test('a visitor who opens a file that an S3 service has archived is told so', async (t) => {
  const { postern, base } = await startWithService(t, ({ url = '' }, response) =>
    url.startsWith('/bucket/doc') ? response.writeHead(403).end('<Error><Code>InvalidObjectState</Code></Error>') : response.end(emptyList),
  );
  const { status, body } = await postern.visit(`${base}/file/doc`);
  assert.deepEqual([status, body.code], [409, 'fileArchived']);
});
