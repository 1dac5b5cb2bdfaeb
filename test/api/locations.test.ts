import assert from 'node:assert/strict';
import { mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { browseLocation } from '#features/locations/browse-location.ts';
import { locationTurns } from '#features/locations/location-turns.ts';
import type { Caller } from '#features/operation.ts';
import type { Storages } from '#ports/storages.ts';
import { startWithStorages } from '../parts/intercepted-postern.ts';
import { MinimalStorage } from '../ports/minimal-storage.ts';
import { until } from '../ports/until.ts';
import { type Json, newShare, startPostern, type TestPostern, temporaryFolder } from '../start.ts';
import { basicAuthorization, createShare } from '../visit/visiting.ts';
import { fieldErrorAt, fieldErrorsOf } from './field-errors.ts';
import { addKey, addTenant } from './keys.ts';

async function addLocation(postern: TestPostern, name = 'reports') {
  const folder = join(postern.files, name);
  await mkdir(folder);
  const { id } = await postern.call('location/add', { name, kind: 'local', configuration: JSON.stringify({ folder }) });
  return { id, folder };
}

test('the first tenant has a location named local with a welcome file', async (t) => {
  const postern = await startPostern(t);
  const { list } = await postern.call('location/search');
  assert.deepEqual(
    list.map(({ name, kind, tid }: Json) => [name, kind, tid]),
    [['local', 'local', 1]],
  );
  const { entries } = await postern.call('location/browse', { location: 'local' });
  assert.deepEqual(
    entries.map(({ name, folder }: Json) => [name, folder]),
    [['welcome.txt', false]],
  );
});

test('a location can be added, read, renamed, used by a share, and deleted when no share uses it', async (t) => {
  const postern = await startPostern(t);
  const { id, folder } = await addLocation(postern);
  const location = await postern.call('location/get', { id });
  assert.deepEqual([location.name, location.kind, JSON.parse(location.configuration)], ['reports', 'local', { folder }]);
  const { id: share } = await postern.call('share/add', newShare({ location: 'reports' }));
  assert.equal((await postern.send('location/delete', { id })).status, 409);
  await postern.call('location/update', { ...location, name: 'papers' });
  assert.equal((await postern.call('share/get', { id: share })).location, 'papers');
  await postern.call('share/delete', { id: share });
  await postern.call('location/delete', { id });
  assert.equal((await postern.send('location/get', { id })).status, 404);
});

test('a configuration names its folder in the field "path", or in "folder", the former name of this field', async (t) => {
  const postern = await startPostern(t);
  await writeFile(join(postern.files, 'doc'), 'text');
  for (const member of ['path', 'folder']) {
    const configuration = JSON.stringify({ [member]: postern.files });
    const { id } = await postern.call('location/add', { name: member, kind: 'local', configuration });
    assert.equal((await postern.call('location/get', { id })).configuration, configuration);
    const { entries } = await postern.call('location/browse', { location: member });
    assert.ok(entries.some(({ name }: Json) => name === 'doc'));
  }
});

test('location/update with a duplicate name gets 409, with an outdated etag 412, and with another kind a field error', async (t) => {
  const postern = await startPostern(t);
  const { id } = await addLocation(postern);
  assert.equal((await postern.send('location/update', { id, name: 'local' })).status, 409);
  assert.equal((await postern.send('location/update', { id, name: 'x' }, { headers: { 'if-match': '"0"' } })).status, 412);
  assert.deepEqual(fieldErrorsOf(await postern.send('location/update', { id, kind: 's3' })), ['kind']);
});

test('an unsupported kind is refused, and the error lists the supported kinds', async (t) => {
  const postern = await startPostern(t);
  const answer = await postern.send('location/add', { name: 'floppy', kind: 'floppy', configuration: '{}' });
  assert.equal(answer.status, 400);
  assert.match(fieldErrorAt(answer, 'kind'), /\blocal\b.*\bsftp\b/);
});

const machineCredentials = { useMachineCredentials: true, accessKeyId: undefined, secretAccessKey: undefined };

test('if a setting allows a tenant to use the role of the machine, locations can use it only at endpoints of Amazon S3', async (t) => {
  const postern = await startPostern(t, { environment: { POSTERN_MACHINE_CREDENTIALS: '1' } });
  const add = (configuration: object) =>
    postern.send('location/add', {
      ...{ name: 'x', kind: 's3' },
      configuration: JSON.stringify({ region: 'eu-central-1', bucket: 'reports', ...machineCredentials, ...configuration }),
    });
  const others = ['s3.example.com', 'ec2-192-0-2-1.compute.amazonaws.com', 's3-x-1.eu-central-1.elb.amazonaws.com', 's3.x.amazonaws.com'];
  for (const endpoint of [...others.map((host) => `https://${host}`), 'http://s3.eu-central-1.amazonaws.com'])
    for (const member of ['endpoint', 'publicEndpoint'])
      assert.match(
        fieldErrorAt(await add({ [member]: endpoint }), 'configuration'),
        new RegExp(`${member} must be an https address of Amazon S3`),
      );
  const vpc = {
    name: 'vpc',
    kind: 's3',
    configuration: JSON.stringify({
      region: 'eu-central-1',
      bucket: 'reports',
      ...machineCredentials,
      endpoint: 'https://bucket.vpce-1a2b.s3.eu-central-1.vpce.amazonaws.com',
      publicEndpoint: 'https://s3.eu-central-1.amazonaws.com',
    }),
  };
  assert.equal((await postern.send('location/add', vpc)).status, 200);
  assert.match(fieldErrorAt(await add({ accessKeyId: 'id' }), 'configuration'), /cannot be combined with accessKeyId/);
  assert.match(fieldErrorAt(await add({ buckets: 'x' }), 'configuration'), /^buckets is not a known member/);
  assert.equal((await add({})).status, 200);
});

test('an invalid configuration of kind s3 is refused, and the error says what is valid', async (t) => {
  const postern = await startPostern(t);
  const base = { region: 'eu-central-1', bucket: 'reports', accessKeyId: 'id', secretAccessKey: 'secret' };
  const invalidChanges: [object, RegExp][] = [
    [{ secretAccessKey: undefined }, /secretAccessKey/],
    [{ endpoint: 's3.example.com' }, /endpoint must be the address of a server/],
    [{ endpoint: 'https://s3.example.com/path' }, /endpoint must be the address of a server/],
    [{ bucket: 'a/b' }, /bucket must be the name of a bucket/],
    [{ bucket: 'reports.example.com' }, /pathStyle must be true for a bucket with a dot/],
    [{ region: 'x.example.com/' }, /region must consist of letters/],
    [{ prefix: 'a/../b' }, /prefix must be a path/],
    [{ secretAccessKey: 'two words' }, /secretAccessKey must consist of visible ASCII/],
    [{ secretAccessKey: '********' }, /no secret is stored yet/],
    [{ more: 1 }, /more/],
    [machineCredentials, /POSTERN_MACHINE_CREDENTIALS/],
  ];
  for (const [change, text] of invalidChanges) {
    const answer = await postern.send('location/add', { name: 'x', kind: 's3', configuration: JSON.stringify({ ...base, ...change }) });
    assert.equal(answer.status, 400);
    assert.match(fieldErrorAt(answer, 'configuration'), text);
  }
});

test('a configuration is refused unless it names an existing folder within the allowed roots', async (t) => {
  const postern = await startPostern(t);
  await symlink('/etc', join(postern.files, 'etc-link'));
  for (const configuration of [
    '{',
    '{}',
    '[]',
    JSON.stringify({ folder: 'relative' }),
    JSON.stringify({ path: postern.files, folder: postern.files }),
    JSON.stringify({ folder: '/etc' }),
    JSON.stringify({ folder: join(postern.files, '..') }),
    JSON.stringify({ folder: `${postern.files}/../../..` }),
    JSON.stringify({ folder: join(postern.files, 'nothing') }),
    JSON.stringify({ folder: join(postern.files, 'etc-link') }),
    JSON.stringify({ folder: postern.files, more: 1 }),
  ])
    assert.deepEqual(
      fieldErrorsOf(await postern.send('location/add', { name: 'x', kind: 'local', configuration })),
      ['configuration'],
      configuration,
    );
});

test('location/search returns the configuration only to an admin', async (t) => {
  const postern = await startPostern(t);
  const editor = await addKey(postern, 'editor');
  const [location] = (await postern.call('location/search', {}, { key: editor })).list;
  assert.equal(location.name, 'local');
  assert.ok(!JSON.stringify(location).includes('files'));
  assert.equal((await postern.call('location/search')).list[0].configuration, '{"folder":"files"}');
});

test('location/test performs real file operations, returns the results and leaves no files behind', async (t) => {
  const postern = await startPostern(t);
  const { id } = await addLocation(postern);
  const { works, steps } = await postern.call('location/test', { id });
  assert.equal(works, true);
  assert.deepEqual(
    steps.map(({ step, passed }: Json) => [step, passed]),
    ['connect', 'list', 'write', 'remove'].map((step) => [step, true]),
  );
  assert.deepEqual((await postern.call('location/browse', { location: 'reports' })).entries, []);
  assert.equal((await postern.send('location/test', { id: 987 })).status, 404);
});

test('location/browse lists folders first, and lists neither symbolic links nor anything outside the location', async (t) => {
  const postern = await startPostern(t);
  const { folder } = await addLocation(postern);
  await mkdir(join(folder, 'zebra'));
  await writeFile(join(folder, 'a.txt'), 'abc');
  await symlink('/etc', join(folder, 'link'));
  const { entries, path } = await postern.call('location/browse', { location: 'reports', path: '/' });
  assert.equal(path, '/');
  assert.deepEqual(
    entries.map(({ name, folder: isFolder, size }: Json) => [name, isFolder, isFolder ? 0 : size]),
    [
      ['zebra', true, 0],
      ['a.txt', false, 3],
    ],
  );
  for (const outside of ['..', '/../..', '/link', '/nothing', '/a.txt', '/.postern'])
    assert.deepEqual(fieldErrorsOf(await postern.send('location/browse', { location: 'reports', path: outside })), ['path'], outside);
  assert.deepEqual(fieldErrorsOf(await postern.send('location/browse', { location: 'nowhere' })), ['location']);
  assert.deepEqual(fieldErrorsOf(await postern.send('location/browse', {})), ['location']);
});

test('a folder that is not allowed gets the same refusal whether or not it exists', async (t) => {
  const postern = await startPostern(t);
  const errorOf = async (folder: string) =>
    fieldErrorAt(
      await postern.send('location/add', { name: 'x', kind: 'local', configuration: JSON.stringify({ folder }) }),
      'configuration',
    );
  assert.equal(await errorOf('/etc'), await errorOf('/etc/no-such-folder'));
  assert.equal(await errorOf(postern.data), await errorOf(join(postern.data, 'no-such-folder')));
});

test('a location cannot contain the database or the keys, even through a symbolic link in an allowed folder', async (t) => {
  const data = await temporaryFolder(t);
  const outer = await temporaryFolder(t);
  await symlink(data, join(outer, 'link'));
  const postern = await startPostern(t, { data, environment: { POSTERN_LOCAL_ROOTS: `1:${outer}` } });
  for (const folder of [join(outer, 'link'), 'files/..']) {
    const refusal = await postern.send('location/add', { name: 'x', kind: 'local', configuration: JSON.stringify({ folder }) });
    assert.equal(refusal.status, 400, folder);
  }
});

test('if two tenants add the same folder at the same time, at most one succeeds', async (t) => {
  const folder = await temporaryFolder(t);
  const postern = await startPostern(t, { environment: { POSTERN_LOCAL_ROOTS: `1:${folder},2:${folder}` } });
  const { id: tid } = await postern.call('tenant/add', { title: 'Second' });
  const { key } = await postern.call('apikey/add', { name: 'second', role: 'admin', tid });
  for (let round = 0; round < 5; round += 1) {
    const configuration = JSON.stringify({ folder: join(folder, `${round}`) });
    await mkdir(join(folder, `${round}`));
    const body = { name: `round ${round}`, kind: 'local', configuration };
    const answers = await Promise.all([postern.send('location/add', body), postern.send('location/add', body, { key })]);
    assert.ok(answers.filter(({ status }) => status === 200).length <= 1, `round ${round}`);
    for (const { status } of answers) assert.ok([200, 400, 409].includes(status), `${status}`);
  }
});

test('two tenants can add locations of a service at the same time, and their locations are not compared', async (t) => {
  const body = { name: 'cloud', kind: 'webdav', configuration: '{"url":"https://files.example.com"}' };
  const comparedCounts: number[] = [];
  let addMeanwhile = async () => {};
  const storages: Storages = {
    open: async () => new MinimalStorage(),
    async configurationError(_location, others) {
      comparedCounts.push(others.length);
      const add = addMeanwhile;
      addMeanwhile = async () => {};
      await add();
      return null;
    },
  };
  const postern = await startPostern(t, { replacements: { ports: { storages } } });
  const { key } = await addTenant(postern);
  addMeanwhile = async () => {
    assert.equal((await postern.send('location/add', body, { key })).status, 200);
  };
  assert.equal((await postern.send('location/add', body)).status, 200);
  assert.equal((await postern.send('location/add', { ...body, name: 'another' }, { key })).status, 200);
  assert.deepEqual(comparedCounts, [0, 0, 0]);
  await postern.send('location/add', { ...body, kind: 'local', configuration: '{"path":"/srv"}' }, { key });
  assert.equal(comparedCounts.at(-1), 1); // compared with the location that the first tenant has from the start
});

test('a location can set the mode of new files and folders', async (t) => {
  const postern = await startPostern(t);
  const folder = join(postern.files, 'reports');
  await mkdir(folder);
  const add = (over: object) =>
    postern.send('location/add', { name: 'reports', kind: 'local', configuration: JSON.stringify({ folder, ...over }) });
  for (const over of [{ fileMode: '640' }, { fileMode: '0999' }, { folderMode: 488 }, { group: 'staff' }])
    assert.deepEqual(fieldErrorsOf(await add(over)), ['configuration'], JSON.stringify(over));
  assert.equal((await add({ fileMode: '0640', folderMode: '0750' })).status, 200);
  const { base } = await createShare(postern, { location: 'reports' });
  assert.equal((await postern.visit(`${base}/file/a.txt`, { method: 'PUT', body: 'a' })).status, 201);
  assert.equal((await postern.visit(`${base}/folder/made`, { method: 'POST' })).status, 201);
  const modeOf = async (name: string) => ((await stat(join(folder, name))).mode & 0o777).toString(8);
  assert.deepEqual([await modeOf('a.txt'), await modeOf('made')], ['640', '750']);
});

test('a location that does not respond does not block searches, the overview or other locations', async (t) => {
  const gate = Promise.withResolvers<void>();
  let heldCount = 0;
  const postern = await startWithStorages(t, (method) => {
    if (method !== 'storage.list' || heldCount === 8) return undefined;
    heldCount += 1;
    return gate.promise;
  });
  const folder = join(postern.files, 'elsewhere');
  await mkdir(folder);
  await postern.call('location/add', { name: 'elsewhere', kind: 'local', configuration: JSON.stringify({ folder }) });
  const browsing = Array.from({ length: 8 }, () => postern.send('location/browse', { location: 'local' }));
  await until(() => heldCount === 2); // two calls run at the same time; the others wait
  assert.equal((await postern.send('share/search')).status, 200);
  assert.equal((await postern.send('overview/get')).status, 200);
  heldCount = 8; // further calls are not held
  assert.equal((await postern.send('location/browse', { location: 'elsewhere' })).status, 200);
  gate.resolve();
  assert.deepEqual(new Set((await Promise.all(browsing)).map(({ status }) => status)), new Set([200]));
});

/** A storage whose lists have 10,000 empty batches. */
class SlowListStorage extends MinimalStorage {
  readonly ended = Promise.withResolvers<void>();
  readonly #beforeBatch: (number: number) => void;
  batchCount = 0;

  constructor(beforeBatch: (number: number) => void) {
    super();
    this.#beforeBatch = beforeBatch;
  }

  override async list() {
    return this.#batches();
  }

  async *#batches() {
    try {
      for (; this.batchCount < 10_000; this.batchCount += 1) {
        await new Promise(setImmediate);
        this.#beforeBatch(this.batchCount);
        yield [];
      }
    } finally {
      this.ended.resolve();
    }
  }
}

test('location/browse fails with storageAway after 20 seconds, and stops reading the folder', async (t) => {
  const { ports } = await startPostern(t);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const storage = new SlowListStorage((number) => number === 3 && t.mock.timers.tick(20_000));
  const storages: Storages = { open: async () => storage, configurationError: async () => null };
  const caller: Caller = Object.assign(Object.create(null), { tid: 1 });
  const read = { tid: 1, location: 'local', caller: 'key 1' };
  const browsing = locationTurns().run(read, new AbortController().signal, (timedOut) =>
    browseLocation.read({ location: 'local' }, caller, { ...ports, storages }, (query) => query(), timedOut),
  );
  await assert.rejects(browsing, { messageName: 'storageAway' });
  await storage.ended.promise;
  assert.equal(storage.batchCount, 3);
});

test('a tenant has at most 1000 locations, and the overview shows all of them', { timeout: 30_000 }, async (t) => {
  const postern = await startPostern(t);
  const { store } = postern.ports;
  const { id } = await addLocation(postern);
  const { id: _, ...row } = await store.read.selectFrom('location').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const others = Array.from({ length: 997 }, (_, number) => ({ ...row, name: `reports ${number}` }));
  await store.write(async (tx) => {
    for (let begin = 0; begin < others.length; begin += 100)
      await tx
        .insertInto('location')
        .values(others.slice(begin, begin + 100))
        .execute();
  }, 'job');
  await addLocation(postern, 'the last');
  const { locations } = await postern.call('overview/get');
  assert.equal(new Set(locations.map(({ id }: Json) => id)).size, 1000);
  assert.ok(locations.every(({ answers }: Json) => answers));
  const folder = join(postern.files, 'the last');
  const refusal = await postern.send('location/add', { name: 'more', kind: 'local', configuration: JSON.stringify({ folder }) });
  assert.deepEqual([refusal.status, refusal.body.code], [409, 'locationsTooMany']);
});

test('a long configuration is stored without unnecessary spaces', async (t) => {
  const postern = await startPostern(t);
  const configuration = JSON.stringify({ folder: postern.files });
  const { id } = await postern.call('location/add', { name: 'spaces', kind: 'local', configuration: configuration.padEnd(60_000) });
  const location = await postern.call('location/get', { id });
  assert.equal(location.configuration, configuration);
});

test('secrets that cannot be decrypted make only their own location and login profile unavailable until they are entered again', async (t) => {
  const postern = await startPostern(t);
  const { id, folder } = await addLocation(postern);
  const unavailableShare = await createShare(postern, { location: 'reports' });
  const other = await createShare(postern);
  const profile = await postern.call('loginprofile/add', { title: 'One password', typeId: 2, password: 'correct horse battery' });
  const protectedShare = await createShare(postern, { authenticationId: profile.id });
  await postern.ports.store.write(async (tx) => {
    const sealedText = Buffer.from('sealed with a key that nobody has').toString('base64');
    await tx.updateTable('location').set({ configuration: sealedText, version: 2 }).where('id', '=', id).execute();
    await tx.updateTable('login_profile').set({ password: sealedText, version: 2 }).where('id', '=', Number(profile.id)).execute();
  }, 'job');
  const { list } = await postern.call('location/search');
  assert.deepEqual(
    list.map(({ name, configuration }: Json) => [name, configuration === '{}']),
    [
      ['local', false],
      ['reports', true],
    ],
  );
  assert.equal((await postern.visit(`${unavailableShare.base}/list`)).status, 503);
  assert.equal((await postern.visit(`${other.base}/list`)).status, 200);
  const signInWith = async (password: string) =>
    (await postern.visit(`${protectedShare.base}/list`, { headers: { authorization: basicAuthorization('', password) } })).status;
  assert.deepEqual([await signInWith('correct horse battery'), await signInWith('')], [401, 401]);
  const location = await postern.call('location/get', { id });
  await postern.call('location/update', { ...location, configuration: JSON.stringify({ folder }) });
  await postern.call('loginprofile/update', { id: profile.id, password: 'another horse battery' });
  assert.equal((await postern.visit(`${unavailableShare.base}/list`)).status, 200);
  assert.equal(await signInWith('another horse battery'), 200);
});
