import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { after, before, test } from 'node:test';
import { fieldErrorAt } from '../api/keys.ts';
import { type ApacheWebdav, startApacheWebdav } from '../parts/apache-webdav.ts';
import { isInstalled } from '../parts/is-installed.ts';
import { checkKilledUploads } from '../resumable-uploads/check-killed-uploads.ts';
import { checkParts } from '../resumable-uploads/check-parts.ts';
import { type Json, startPostern, type TestPostern, temporaryFolder } from '../start.ts';
import { checkFileActions } from '../visit/file-actions.ts';

const environment = { POSTERN_PRIVATE_TARGETS: '127.0.0.1' };
const addLocation = async (postern: TestPostern, configuration: object) =>
  (await postern.call('location/add', { name: 'server', kind: 'webdav', configuration: JSON.stringify(configuration) })).id;
const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);

if (!isInstalled('apache2')) test('WebDAV locations work as those on disk', { skip: 'apache2 is not installed' }, () => {});
else {
  let server: ApacheWebdav;
  before(async () => {
    server = await startApacheWebdav();
  });
  after(() => server[Symbol.asyncDispose]());

  for (const scheme of ['Basic', 'Digest'] as const)
    test(`at a WebDAV location with ${scheme} authentication, visitors list, upload, download, archive, rename and delete`, async (t) => {
      const postern = await startPostern(t, { environment });
      await addLocation(postern, await server.newFolder(scheme));
      await checkFileActions(postern, 'server');
    });

  test('at a WebDAV location, an upload in parts continues after a restart, and leaves no files behind', async (t) => {
    const configuration = await server.newFolder();
    const data = await temporaryFolder(t);
    const listStaged = async () => [
      ...namesIn(join(data, 'uploads')),
      ...namesIn(join(server.folder, configuration.root ?? '', '.postern')),
    ];
    await checkParts(t, { location: 'server', data, environment }, (postern) => addLocation(postern, configuration), listStaged);
  });

  test('uploads in parts to a WebDAV location continue after the process was killed, and lose no acknowledged part', async (t) => {
    const configuration = await server.newFolder();
    const location = { name: 'server', kind: 'webdav', configuration: JSON.stringify(configuration) };
    const listStaged = async (data: string) => [
      ...namesIn(join(data, 'uploads')),
      ...namesIn(join(server.folder, configuration.root ?? '', '.postern')),
    ];
    await checkKilledUploads(t, { environment, location, listStaged }, 350);
  });

  test('location/test tests a WebDAV location, whose secrets appear in no response, audit entry or log line', async (t) => {
    const log = new PassThrough({ encoding: 'utf8' });
    let lines = '';
    log.on('data', (text: string) => {
      lines += text;
    });
    const postern = await startPostern(t, { environment, replacements: { log } });
    const configuration = await server.newFolder();
    const id = await addLocation(postern, configuration);
    const location = await postern.call('location/get', { id });
    assert.deepEqual(JSON.parse(location.configuration), { ...configuration, password: '********' });
    const { works, steps } = await postern.call('location/test', { id });
    assert.deepEqual([works, steps.map(({ step }: Json) => step).join(' ')], [true, 'connect signIn list write read conditions remove']);
    await postern.call('location/update', { id, configuration: JSON.stringify({ ...configuration, password: 'another secret' }) });
    const failed = await postern.call('location/test', { id });
    assert.deepEqual([failed.works, failed.steps.at(-1).step], [false, 'signIn']);
    const entries = JSON.stringify(await postern.call('audit/search', { pageSize: 100 }));
    for (const secret of [configuration.password ?? '', 'another secret']) assert.ok(!(entries + lines).includes(secret));
  });

  test('a stored password of a WebDAV location is not sent to another server', async (t) => {
    const postern = await startPostern(t, { environment });
    const id = await addLocation(postern, await server.newFolder());
    const { configuration } = await postern.call('location/get', { id });
    const movedConfiguration = { ...JSON.parse(configuration), url: 'https://other.example.com/dav' };
    const answer = await postern.send('location/update', { id, configuration: JSON.stringify(movedConfiguration) });
    assert.match(fieldErrorAt(answer, 'configuration'), /password must be the secret itself.*url has changed/);
  });
}
