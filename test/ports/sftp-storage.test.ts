import { after, before, type TestContext, test } from 'node:test';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { MemoryBudget } from '#adapters/storage/memory-budget.ts';
import { PrivateKeys } from '#adapters/storage/sftp/private-key.ts';
import type { SftpSession } from '#adapters/storage/sftp/sftp-session.ts';
import { SftpStorage } from '#adapters/storage/sftp/sftp-storage.ts';
import { packRangeText } from '#core/authorization/address-range.ts';
import type { SftpConfiguration } from '#core/records/location-configurations.ts';
import { missingForRcloneSftp, missingForSshd, type SftpTestServer, startRcloneSftp, startSshd } from '../parts/sftp-servers.ts';
import { changeContract, storageContract, uploadContract } from './storage.contract.ts';

const outbound = guardedOutbound({ privateTargets: packRangeText('127.0.0.1') });
const sessions = new Set<SftpSession>();
after(async () => {
  for (const session of sessions) session.close();
  await outbound[Symbol.asyncDispose]();
});
const open = (configuration: SftpConfiguration, over = {}) =>
  new SftpStorage(configuration, 1, { outbound, keys: new PrivateKeys(), sessions, memory: new MemoryBudget(), ...over });

type Contract = (name: string, open: (t: TestContext) => Promise<SftpStorage>) => void;

/** Starts a server, and runs contracts with it. */
function testServer(name: string, missing: string, start: () => Promise<SftpTestServer>, contracts: readonly Contract[]): void {
  if (missing !== '') return void test(`SFTP (${name}) meets the storage contract`, { skip: `${missing} is missing` }, () => {});
  let server: SftpTestServer;
  before(async () => {
    server = await start();
  });
  after(() => server[Symbol.asyncDispose]());
  for (const contract of contracts) contract(`SFTP (${name})`, async () => open(await server.newFolder()));
}

testServer('OpenSSH', missingForSshd(), startSshd, [storageContract]);
// rclone cannot continue a file, and takes a tenth of a second for each new folder.
testServer('rclone', missingForRcloneSftp(), startRcloneSftp, [uploadContract, changeContract]);
