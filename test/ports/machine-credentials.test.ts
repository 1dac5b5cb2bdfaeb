import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { FolderListCache } from '#adapters/storage/folder-list-cache.ts';
import { MachineCredentials } from '#adapters/storage/s3/machine-credentials.ts';
import { s3Kind } from '#adapters/storage/s3/s3-kind.ts';
import { storageMemory } from '#adapters/storage/storage-memory.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import { atEnd } from '../parts/at-end.ts';
import { openS3, partSpace } from '../parts/open-s3.ts';
import { parsePath } from './storage.contract.ts';

/**
 * Starts a fake metadata service and lets this process use it: only machines of Amazon have a real one.
 * @param variable name of the environment variable that gets the address of the service @param suffix path at the end of the address
 */
async function startFakeMetadata(t: TestContext, variable: string, suffix: string, listener: RequestListener) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  process.env[variable] = `http://127.0.0.1:${port}${suffix}`;
  atEnd(t, () => {
    delete process.env[variable];
    server.closeAllConnections();
    server.close();
  });
}

const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
const role = () => ({ AccessKeyId: 'id', SecretAccessKey: 'secret', Token: 'token', Expiration: inHours(6) });

test('the key of the role of an EC2 instance is fetched from its metadata service', async (t) => {
  await startFakeMetadata(t, 'AWS_EC2_METADATA_SERVICE_ENDPOINT', '', ({ method, url, headers }, response) => {
    if (method === 'PUT' && url === '/latest/api/token') return void response.end('session');
    if (headers['x-aws-ec2-metadata-token'] !== 'session') return void response.writeHead(401).end();
    response.end(url?.endsWith('/my-role') ? JSON.stringify({ Code: 'Success', ...role() }) : 'my-role');
  });
  const { accessKeyId, secretAccessKey, sessionToken } = await new MachineCredentials().get();
  assert.deepEqual([accessKeyId, secretAccessKey, sessionToken], ['id', 'secret', 'token']);
});

test('the key of the role of a container is fetched from its metadata service', async (t) => {
  await startFakeMetadata(t, 'AWS_CONTAINER_CREDENTIALS_FULL_URI', '/credentials', (_, response) => response.end(JSON.stringify(role())));
  assert.equal((await new MachineCredentials().get()).accessKeyId, 'id');
});

test('the key of the machine is cached, and fetched again five minutes before it expires', async () => {
  let [now, fetchCount] = [0, 0];
  const credentials = new MachineCredentials(
    () => now,
    async () => {
      fetchCount += 1;
      return { accessKeyId: `id ${fetchCount}`, secretAccessKey: 'secret', expires: now + 3_600_000 };
    },
  );
  const ids = [await credentials.get(), await credentials.get()];
  now = 3_300_000;
  ids.push(await credentials.get());
  assert.deepEqual(
    ids.map(({ accessKeyId }) => accessKeyId),
    ['id 1', 'id 1', 'id 2'],
  );
});

test('requests at the same moment share one new key when the old one is about to expire', async () => {
  let [now, fetchCount] = [0, 0];
  const credentials = new MachineCredentials(
    () => now,
    async () => {
      fetchCount += 1;
      return { accessKeyId: `id ${fetchCount}`, secretAccessKey: 'secret', expires: now + 3_600_000 };
    },
  );
  await credentials.get();
  now = 3_300_000;
  const keys = await Promise.all(Array.from({ length: 10 }, () => credentials.get()));
  assert.deepEqual([fetchCount, ...new Set(keys.map(({ accessKeyId }) => accessKeyId))], [2, 'id 2']);
});

test('a key of the machine is used until it expires if its metadata service fails shortly before', async () => {
  let [now, isDown] = [0, false];
  const credentials = new MachineCredentials(
    () => now,
    async () => {
      if (isDown) throw new Error('the metadata service does not respond');
      return { accessKeyId: 'id', secretAccessKey: 'secret', expires: 3_600_000 };
    },
  );
  await credentials.get();
  isDown = true;
  for (now of [3_300_000, 3_599_999]) assert.equal((await credentials.get()).accessKeyId, 'id');
  now = 3_600_000;
  await assert.rejects(credentials.get(), StorageUnavailable);
});

for (const [what, isDown] of [
  ['returns the same key', false],
  ['fails', true],
] as const)
  test(`a metadata service that ${what} shortly before the key expires gets one request every half minute`, async () => {
    let [now, fetchCount] = [0, 0];
    const key = { accessKeyId: 'id', secretAccessKey: 'secret', expires: 3_600_000 };
    const credentials = new MachineCredentials(
      () => now,
      async () => {
        fetchCount += 1;
        if (isDown && fetchCount > 1) throw new Error('the metadata service does not respond');
        return key;
      },
    );
    await credentials.get();
    const fetchCounts: number[] = [];
    for (now of [3_300_000, 3_300_001, 3_329_999, 3_330_000, 3_330_001]) {
      await credentials.get();
      fetchCounts.push(fetchCount);
    }
    assert.deepEqual(fetchCounts, [2, 2, 2, 3, 3]);
  });

test('a location with the role of the machine is unavailable on a machine without a role', async () => {
  const machineCredentials = new MachineCredentials(Date.now, () => Promise.reject(new Error('no metadata service')));
  const configuration = { region: 'eu-central-1', bucket: 'reports', useMachineCredentials: true };
  const request = () => Promise.reject(new Error('nothing is sent'));
  await assert.rejects(openS3(configuration, { request }, { machineCredentials }).stat(parsePath('/a')), StorageUnavailable);
});

test('a stored location with the role of the machine is unavailable if its public endpoint is not an address of Amazon S3', async () => {
  const services = {
    outbound: { request: () => Promise.reject(new Error('nothing is sent')) },
    parts: partSpace(),
    memory: storageMemory(),
    lists: new FolderListCache(),
  };
  const kind = s3Kind({ ...services, machineCredentials: new MachineCredentials() }, [1]);
  const open = (publicEndpoint: string) => {
    const members = { region: 'eu-central-1', bucket: 'reports', useMachineCredentials: true, publicEndpoint };
    return kind.open({ id: 1, tid: 1, kind: 's3', configuration: JSON.stringify(members) });
  };
  await assert.rejects(open('https://files.example.com'), StorageUnavailable);
  await open('https://s3.eu-central-1.amazonaws.com');
});
