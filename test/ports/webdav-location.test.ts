import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { FolderListCache } from '#adapters/storage/folder-list-cache.ts';
import { storageMemory } from '#adapters/storage/storage-memory.ts';
import { WebdavStorage } from '#adapters/storage/webdav/webdav-storage.ts';
import { packRangeText } from '#core/authorization/address-range.ts';
import { type ApacheWebdav, startApacheWebdav } from '../parts/apache-webdav.ts';
import { isInstalled } from '../parts/is-installed.ts';
import { partSpace, uploadSpool } from '../parts/open-s3.ts';
import { checkKilledUploads } from '../resumable-uploads/check-killed-uploads.ts';
import { checkParts } from '../resumable-uploads/check-parts.ts';
import { startPostern, type TestPostern, temporaryFolder } from '../start.ts';
import { checkFileActions } from '../visit/file-actions.ts';
import { hour } from '../visit/visiting.ts';
import { checkLocationSecrets } from './check-location-secrets.ts';

const environment = { POSTERN_PRIVATE_TARGETS: '127.0.0.1' };
const addLocation = async (postern: TestPostern, configuration: object) =>
  (await postern.call('location/add', { name: 'server', kind: 'webdav', configuration: JSON.stringify(configuration) })).id;
const namesIn = (folder: string) => (existsSync(folder) ? readdirSync(folder) : []);

if (!isInstalled('apache2')) test('WebDAV locations work like locations on disk', { skip: 'apache2 is not installed' }, () => {});
else {
  let server: ApacheWebdav;
  before(async () => {
    server = await startApacheWebdav();
  });
  const outbound = guardedOutbound({ privateTargets: packRangeText('127.0.0.1') });
  after(async () => {
    await server[Symbol.asyncDispose]();
    await outbound[Symbol.asyncDispose]();
  });

  for (const scheme of ['Basic', 'Digest', 'Bearer'] as const)
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
    const services = { outbound, parts: partSpace(), spool: uploadSpool(), memory: storageMemory(), lists: new FolderListCache() };
    const storage = new WebdavStorage(configuration, 1, { ...services, now: () => Date.now() + 2 * hour });
    await checkKilledUploads(t, { environment, location, listStaged, sweep: () => storage.sweep(async () => []) }, 350);
  });

  test('a WebDAV location can be tested, its secret is masked and never logged, and the stored secret is not sent to another server', async (t) =>
    checkLocationSecrets(t, {
      kind: 'webdav',
      configuration: await server.newFolder(),
      secretMember: 'password',
      wrongSecret: 'another secret',
      otherServer: { url: 'https://other.example.com/dav' },
    }));
}
