import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '../../src/features/operations.ts';
import { codeAt } from '../parts/authenticator-app.ts';
import { blankPage } from '../parts/leaks.ts';
import { passkeyDevice } from '../parts/passkey-device.ts';
import { recordStatements, tablesWithoutTenant } from '../parts/statements.ts';
import { certificateFile, certificatePassword } from '../parts/stored-certificate.ts';
import { until } from '../ports/until.ts';
import { cookieOf, createUsersProfile, mailSettings, newShare, signIn, startPostern, type TestPostern } from '../start.ts';

const oidcClient = JSON.stringify({ issuer: 'https://idp.example', clientId: 'postern', clientSecret: 'secret' });

/** Calls every operation. @returns the names of the called operations */
async function callEveryOperation(postern: TestPostern, viewer: { id: number }): Promise<Set<string>> {
  const calledOperations = new Set<string>();
  const call = async (name: string, body: object = {}, options: object = {}) => {
    calledOperations.add(name);
    return postern.call(name, body, options);
  };
  const profile = await call('loginprofile/add', { title: 'Suppliers', typeId: 3 });
  const copy = await call('loginprofile/duplicate', { id: profile.id, title: 'More' });
  await call('loginprofile/update', { ...(await call('loginprofile/get', { id: copy.id })), typeId: 1 });
  await call('loginprofile/updateViewId', { id: copy.id });
  await call('loginprofile/search', { searchWord: 'more' });
  await call('loginprofile/makeDefault', { id: profile.id });
  await call('loginprofile/delete', { id: copy.id });
  for (const username of ['eve', 'fay']) await call('accessuser/add', { username, active: true, authId: profile.id });
  await call('accessuser/addMany', { users: [{ username: 'gil', active: true }], authId: profile.id });
  await call('accessuser/updateUserPassword', {
    username: 'eve',
    userPassword: 'wholly unguessable',
    confirmPassword: 'wholly unguessable',
  });
  const [eve] = (await call('accessuser/search', { searchWord: 'eve', sortField: 'loginProfileName' })).list;
  await call('accessuser/get', { id: eve.id });
  await call('signature/update', { certificate: certificateFile, password: certificatePassword });
  await call('signature/get');
  await call('signature/test');
  await call('signature/delete');
  await call('tenant/getPolicy');
  await call('tenant/updatePolicy', { longestValidityDays: null, signInRequired: false });
  const share = await call(
    'share/add',
    newShare({ authenticationId: profile.id, allowAllUsers: false, userNames: 'eve,fay', groupNames: 'staff' }),
  );
  const shareCopy = await call('share/duplicate', { id: share.id, title: 'Copy' }, { headers: { 'idempotency-key': 'copy' } });
  await call('share/duplicate', { id: share.id, title: 'Copy' }, { headers: { 'idempotency-key': 'copy' } });
  await call('share/update', { ...(await call('share/get', { id: shareCopy.id })), userNames: 'eve' });
  await call('share/updateSharableLink', { id: shareCopy.id });
  for (const query of [
    {},
    { searchWord: 'copy' },
    { path: '/', authType: 3, state: 'active', sortField: 'userNames' },
    { authId: profile.id, sortField: 'location' },
  ])
    await call('share/search', query);
  await call('share/explain', { id: share.id, username: 'eve' });
  await call('share/activity', { id: share.id });
  await call('share/unfinishedUploads', { id: share.id });
  await call('share/lastVisits', { ids: [share.id] });
  await call('accessuser/update', { ...eve, authId: viewer.id });
  await call('accessuser/delete', { id: eve.id });
  await call('accessuser/deleteByUsername', { username: 'fay', loginProfileId: profile.id });
  await call('share/delete', { id: shareCopy.id });
  const [local] = (await call('location/search')).list;
  const location = await call('location/add', { name: 'second', kind: 'local', configuration: local.configuration });
  await call('location/update', { ...(await call('location/get', { id: location.id })), name: 'third' });
  await call('location/test', { id: location.id });
  await call('loginprofile/test', { id: profile.id, username: 'ann', password: 'correct horse battery' });
  const provider = await call('loginprofile/add', { title: 'Staff', typeId: 5, configuration: oidcClient });
  await call('loginprofile/testSignIn', { id: provider.id });
  await call('location/browse', { location: 'third', path: '/' });
  await call('location/delete', { id: location.id });
  await call('tenant/add', { title: 'Another' });
  await call('tenant/search');
  const key = await call('apikey/add', { name: 'script', role: 'reader' });
  await call('apikey/search');
  await call('apikey/delete', { id: key.id });
  const secrets = { password: 'a horse that reads maps', confirmPassword: 'a horse that reads maps' };
  const operator = await call('operator/add', { name: 'Olga', role: 'reader', ...secrets });
  await call('operator/update', { id: operator.id, name: 'Olga B.' });
  await call('operator/updatePassword', { id: operator.id, ...secrets });
  await call('operator/search', { searchWord: 'olga' });
  for (const name of await manageSecondFactors(postern, 'Olga B.', secrets.password)) calledOperations.add(name);
  await call('operator/resetSecondFactors', { id: operator.id });
  await call('operator/unlinkProvider', { id: operator.id });
  await call('operator/delete', { id: operator.id });
  await call('caller/get');
  await call('overview/get');
  await call('audit/search', { searchWord: 'share', shareId: share.id, username: 'environment', action: 'share/add', outcome: 'done' });
  await call('audit/export', { format: 'csv' });
  await call('audit/trace', { file: (await blankPage(1)).toString('base64') });
  await call('share/invite', { id: share.id, emails: 'gil@example.com' });
  await call('share/previewInvitation', { id: share.id, emails: 'gil@example.com' });
  const invitation = async () => (await call('mail/deliveries', { shareId: share.id, kind: 'invitation', searchWord: 'gil' })).list[0];
  let mail = await invitation();
  await until(async () => {
    mail = await invitation();
    return mail.state === 'waiting' && mail.error !== ''; // no mail server accepts it; the next attempt is a minute later
  });
  await call('mail/drop', { id: mail.id });
  await call('mail/retry', { id: mail.id });
  await call('mail/test', { to: 'gil@example.com' });
  return calledOperations;
}

/**
 * Signs in, adds an authenticator app and a passkey, renews the recovery codes, and removes the app and the passkey.
 * @returns the names of the called operations
 */
async function manageSecondFactors(postern: TestPostern, name: string, currentPassword: string): Promise<ReadonlySet<string>> {
  const calledOperations = new Set<string>();
  const session = await postern.send('operator/signIn', { name, password: currentPassword }, { key: null });
  const headers = { cookie: cookieOf(session), origin: postern.apiUrl };
  const call = async (operation: string, body: object = {}) => {
    calledOperations.add(operation);
    const answer = await postern.send(operation, body, { key: null, headers });
    assert.equal(answer.status, 200, operation);
    return answer.body;
  };
  const { secret } = await call('operator/prepareTotp');
  await call('operator/addTotp', { secret, code: codeAt(secret, Date.now()), currentPassword });
  const { options, challengeToken } = await call('operator/preparePasskey', { currentPassword });
  await call('operator/addPasskey', { challengeToken, credential: passkeyDevice().create(options, 'https://console.example') });
  const { list } = await call('operator/getSecondFactors');
  const { recoveryCodes } = await call('operator/renewRecoveryCodes', { currentPassword });
  await postern.send('operator/signIn', { name, password: currentPassword, code: recoveryCodes[0] }, { key: null });
  for (const { id } of list) await call('operator/deleteSecondFactor', { id, currentPassword });
  return calledOperations;
}

/**
 * Signs in at a link, takes every action that needs a permit, and signs out. Then requests a code at another link, and enters a wrong one.
 */
async function visitAll(postern: TestPostern, profile: Awaited<ReturnType<typeof createUsersProfile>>): Promise<void> {
  const { viewId } = await postern.call(
    'share/add',
    newShare({ authenticationId: profile.id, allowAllUsers: false, userNames: 'ann', alertUpload: true, notifyEmails: 'a@example.com' }),
  );
  const base = `/s/${viewId}`;
  await postern.visit(`${base}/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"username":"ann","password":"wrong"}',
  });
  const cookie = await signIn(postern, base, 'ann');
  const headers = { cookie, origin: postern.publicUrl, 'content-type': 'application/json' };
  const send = async (method: string, path: string, body?: string) => {
    const answer = await postern.visit(path, { method, headers, ...(body === undefined ? {} : { body }) });
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  };
  await send('PUT', `${base}/file/a.txt`, 'a');
  await send('POST', `${base}/folder/b`);
  await send('POST', `${base}/rename`, '{"path":"/a.txt","name":"c.txt"}');
  for (const path of [
    base,
    `${base}/visit`,
    `${base}/list`,
    `${base}/file/c.txt`,
    `${base}/view/c.txt`,
    `${base}/zip`,
    `/p/${profile.viewId}/visit`,
  ])
    await send('GET', path);
  await send('DELETE', `${base}/file/c.txt`);
  await signIn(postern, `/p/${profile.viewId}`, 'ann');
  await send('POST', `${base}/sign-out`, '{}');
  const codes = await postern.call('loginprofile/add', { title: 'Codes', typeId: 4, configuration: '{"allow":["*@example.com"]}' });
  const { viewId: codeViewId } = await postern.call('share/add', newShare({ authenticationId: codes.id }));
  const codeResponse = await postern.visit(`/s/${codeViewId}/sign-in/code`, {
    method: 'POST',
    headers,
    body: '{"email":"ann@example.com"}',
  });
  assert.equal(codeResponse.status, 202);
  const attempt = await postern.visit(`/s/${codeViewId}/sign-in`, {
    ...{ method: 'POST', body: '{"email":"ann@example.com","code":"00000000"}' },
    headers: { ...headers, cookie: cookieOf(codeResponse) },
  });
  assert.equal(attempt.status, 401);
  assert.equal((await postern.visit('/s/nobody-knows-this/visit', { headers })).status, 404);
}

/**
 * Statements that are not limited to one tenant: those about the entire installation (at the start, for maintenance, and for some checks),
 * and the statement that finds a login profile, and so its tenant, by its id.
 */
const installationStatements = [
  /^select .* from location( where id > \S+)?( order by id( limit \S+)?)?$/, // health check, sweep
  /^select .* from location where tid != \S+ and kind in \(\S+\) order by id$/, // overlap check
  /^select .* from \(select distinct tid, location_id, process from unsettled where /, // recovery
  /^select tid, id, ip_range from login_profile where ip_bounds is null and id > \S+ order by id limit /, // IP ranges of an earlier version
  /^select .* from login_profile where id = \S+$/, // requests at /sign-in/, whose addresses have only the id of the profile
  /^select token from (unsettled|resumable_upload) where token in \(/, // sweep
  /^update audit set outcome = .* where outcome = .* and process not in /,
  /^delete from (visit_session|idempotency|ongoing) where (created_at|until) < \S+$/,
  /^select tid, id from audit where at < /,
  /^select at from audit where outcome != \S+ order by at (asc|desc) limit /, // retention
  /^select .* from alert where \(tid, share_id, visitor\) > /, // digests are added for the visitors of all tenants
  /^select .* from alert_digest where due_at <= /,
  /^update resumable_upload set holder = .* where holder not in /,
  /^select tid from count_change limit /, // the job that counts the folders of all tenants
];

test('every SQL statement on tenant data, with listed exceptions, names the tenant, so that a tenant can have its own database server', async (t) => {
  const statements = recordStatements(t);
  const postern = await startPostern(t, { environment: mailSettings });
  const profile = await createUsersProfile(postern);
  const calledOperations = await callEveryOperation(postern, profile);
  assert.deepEqual(
    operations.map(({ name }) => name).filter((name) => !calledOperations.has(name)),
    [],
  );
  await visitAll(postern, profile);
  await postern.stop();
  const normalize = (statement: string) => statement.replaceAll('"', '').replace(/\s+/g, ' ').toLowerCase();
  const dataStatements = [...statements].filter((statement) => /^\s*(select|insert|update|delete|with)/i.test(statement));
  assert.ok(dataStatements.length > 100, 'the statements are recorded');
  const statementsWithoutTenant = dataStatements.filter(
    (statement) =>
      tablesWithoutTenant(statement).length > 0 && !installationStatements.some((pattern) => pattern.test(normalize(statement))),
  );
  assert.deepEqual(statementsWithoutTenant, []);
});

test('the check reports an SQL statement that does not name the tenant', () => {
  for (const statement of [
    'select "id" from "share" where "id" = $1',
    'select 1 from share as s join access_user as u on u.id = s.id where s.tid = 1',
    'update "audit" set "count" = 1 where "id" = $1',
    'insert into "share_user" ("share_id") values ($1)',
  ])
    assert.notDeepEqual(tablesWithoutTenant(statement), [], statement);
});
