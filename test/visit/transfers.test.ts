import assert from 'node:assert/strict';
import { mkdir, readdir } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { until } from '../ports/until.ts';
import { createUsersProfile, signIn, startPostern, type TestPostern } from '../start.ts';
import { addLargeFile, startSlowDownload } from './slow-download.ts';
import { basicAuthorization, changeShare, createShare, hour, minute, settableClock } from './visiting.ts';

async function startTransfer(t: TestContext, path: string) {
  const clock = settableClock();
  const postern = await startPostern(t, { replacements: { ports: { clock } } });
  await addLargeFile(postern);
  const profile = await createUsersProfile(postern);
  const link = await createShare(postern, {
    authenticationId: profile.id,
    validityEndDate: new Date(clock.now() + hour / 2).toISOString(),
  });
  const cookie = await signIn(postern, link.base, 'ann');
  const { connectionError } = await startSlowDownload(t, `${postern.publicUrl}${link.base}${path}`, { cookie });
  return { clock, postern, profile, link, cookie, connectionError };
}

/** Gives the first location another folder, which is empty. */
async function changeFolder(postern: TestPostern): Promise<void> {
  const folder = join(postern.files, 'elsewhere');
  await mkdir(folder);
  await postern.call('location/update', { id: 1, configuration: JSON.stringify({ folder }) });
}

type Revocation = (transfer: Awaited<ReturnType<typeof startTransfer>>) => Promise<unknown>;
const revocations: Record<string, Revocation> = {
  'its share is stopped': ({ postern, link }) => changeShare(postern, link.id, { active: false }),
  'its share is deleted': ({ postern, link }) => postern.call('share/delete', { id: link.id }),
  'its link is changed': ({ postern, link }) => postern.call('share/updateSharableLink', { id: link.id }),
  'its link expires': async ({ clock }) => clock.advance(hour / 2),
  'its permission is removed': ({ postern, link }) => changeShare(postern, link.id, { canDownload: false, canDownloadFolder: false }),
  'its user is deactivated': ({ postern, profile }) =>
    postern.call('accessuser/update', { id: profile.users['ann'], authId: profile.id, active: false }),
  'its share gets copy protection': ({ postern, link }) => changeShare(postern, link.id, { copyProtect: true }),
  'its share gets a watermark': ({ postern, link }) => changeShare(postern, link.id, { waterMarkText: 'for {user}' }),
  'its location gets another folder': ({ postern }) => changeFolder(postern),
  'its user signs out': ({ postern, link, cookie }) => postern.visit(`${link.base}/sign-out`, { method: 'POST', headers: { cookie } }),
};
for (const [name, revoke] of Object.entries(revocations))
  test(`a running download is reset when ${name}`, async (t) => {
    const transfer = await startTransfer(t, '/file/large.bin');
    await revoke(transfer);
    assert.equal((await transfer.connectionError).code, 'ECONNRESET');
  });

test('a running download with the password of a login profile is reset when its share gets another login profile', async (t) => {
  const postern = await startPostern(t);
  await addLargeFile(postern);
  const profileWith = async (password: string) => (await postern.call('loginprofile/add', { title: password, typeId: 2, password })).id;
  const [first, second] = [await profileWith('the first password'), await profileWith('the second password')];
  const { id, base } = await createShare(postern, { authenticationId: first });
  const { connectionError } = await startSlowDownload(t, `${postern.publicUrl}${base}/file/large.bin`, {
    authorization: basicAuthorization('any', 'the first password'),
  });
  await changeShare(postern, id, { authenticationId: second });
  assert.equal((await connectionError).code, 'ECONNRESET');
});

test('a running archive download is reset when its share gets a watermark', async (t) => {
  const transfer = await startTransfer(t, '/zip');
  await changeShare(transfer.postern, transfer.link.id, { waterMarkText: 'for {user}' });
  assert.equal((await transfer.connectionError).code, 'ECONNRESET');
});

test('a running archive download is reset when its share is stopped', async (t) => {
  const transfer = await startTransfer(t, '/zip');
  await changeShare(transfer.postern, transfer.link.id, { active: false });
  assert.equal((await transfer.connectionError).code, 'ECONNRESET');
});

for (const { title, end } of [
  { title: 'its share is stopped', end: (postern: TestPostern, id: number) => changeShare(postern, id, { active: false }) },
  { title: 'its location gets another folder', end: (postern: TestPostern) => changeFolder(postern) },
])
  test(`a running upload is reset when ${title}, and its file does not appear in the location`, async (t) => {
    const postern = await startPostern(t);
    const link = await createShare(postern);
    const sending = request(`${postern.publicUrl}${link.base}/file/large.bin`, {
      method: 'PUT',
      agent: false,
      headers: { 'content-length': '1000000' },
    });
    const cut = new Promise<NodeJS.ErrnoException>((resolve) => sending.once('error', resolve));
    await new Promise((resolve) => sending.write('x'.repeat(1000), resolve));
    const pendingUpload = () => postern.ports.store.read.selectFrom('audit').select('id').where('outcome', '=', 'begun').executeTakeFirst();
    while (!(await pendingUpload())) await postern.visit(`${link.base}/visit`);
    await end(postern, link.id);
    assert.match((await cut).code ?? '', /ECONNRESET|EPIPE/);
    await postern.stop();
    assert.deepEqual(
      (await readdir(postern.files)).filter((name) => !['.postern', 'elsewhere'].includes(name)),
      ['welcome.txt'],
    );
  });

test('a session does not expire while its transfer is running', async (t) => {
  const { clock, postern, link, cookie, connectionError } = await startTransfer(t, '/file/large.bin');
  await changeShare(postern, link.id, { validityEndDate: new Date(clock.now() + 24 * hour).toISOString() });
  let failure: unknown;
  void connectionError.then((cause) => {
    failure = cause;
  });
  for (let round = 1; round <= 2; round += 1) {
    clock.advance(40 * minute);
    const updatedSession = postern.ports.store.read.selectFrom('visit_session').select('used_at').where('used_at', '=', clock.now());
    await until(async () => failure !== undefined || (await updatedSession.executeTakeFirst()) !== undefined);
  }
  assert.equal(failure, undefined);
  assert.equal((await postern.visit(`${link.base}/list`, { headers: { cookie } })).status, 200);
});
