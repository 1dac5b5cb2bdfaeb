import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { atEnd } from '../parts/at-end.ts';
import { until } from '../ports/until.ts';
import { startPostern } from '../start.ts';
import { visitEveryAction } from './every-action.ts';
import { linkTo } from './visiting.ts';

const emptyList = '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>';

test('while an S3 service accepts requests and does not respond, other locations work, and its visitors get a response when it works again', async (t) => {
  const waiting: ServerResponse[] = [];
  let hangs = false;
  const service = createServer((_, response) => (hangs ? waiting.push(response) : response.end(emptyList)));
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  atEnd(t, () => {
    service.closeAllConnections();
    service.close();
  });
  const postern = await startPostern(t, { environment: { POSTERN_PRIVATE_TARGETS: '127.0.0.1' } });
  const { port } = service.address() as AddressInfo;
  const key = { accessKeyId: 'id', secretAccessKey: 'secret' };
  const configuration = JSON.stringify({ endpoint: `http://127.0.0.1:${port}`, region: 'default', bucket: 'bucket', ...key });
  await postern.call('location/add', { name: 'bucket', kind: 's3', configuration });
  const folder = join(postern.files, 'other');
  await mkdir(folder);
  await postern.call('location/add', { name: 'other', kind: 'local', configuration: JSON.stringify({ folder }) });
  const { base } = await linkTo(postern, { location: 'bucket' });
  hangs = true;
  const requests = Array.from({ length: 60 }, (_, index) => postern.visit(`${base}/${['list', 'file/doc', 'zip'][index % 3]}`));
  await until(() => waiting.length > 20);
  await visitEveryAction(postern, 'other');
  assert.equal((await postern.send('overview/get')).body.locations.length, 3);
  assert.equal((await postern.visit('/health/live')).status, 200);
  hangs = false;
  service.closeAllConnections();
  for (const { status } of await Promise.all(requests)) assert.ok([200, 404, 503].includes(status), `${status}`);
  assert.equal((await postern.visit(`${base}/list`)).status, 200);
});
