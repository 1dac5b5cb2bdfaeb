import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startForgingProvider } from '../parts/forging-openid-provider.ts';
import { createUsersProfile, mailSettings, startPostern } from '../start.ts';

test('loginprofile/test tries the password of a profile or of a user, and says which step fails', async (t) => {
  const postern = await startPostern(t);
  const passwordProfile = await postern.call('loginprofile/add', {
    title: 'Door',
    typeId: 2,
    username: 'guest',
    password: 'correct horse battery',
  });
  const profile = await createUsersProfile(postern, ['ann']);
  const resultOf = async (body: object) => {
    const result = await postern.call('loginprofile/test', body);
    return [result.works, ...result.steps.map(({ step, passed }: { step: string; passed: boolean }) => `${step} ${passed}`)];
  };
  const credentials = { username: 'guest', password: 'correct horse battery' };
  assert.deepEqual(await resultOf({ id: passwordProfile.id, ...credentials }), [true, 'password true']);
  assert.deepEqual(await resultOf({ id: passwordProfile.id, ...credentials, password: 'another one' }), [false, 'password false']);
  assert.deepEqual(await resultOf({ id: passwordProfile.id, ...credentials, username: 'host' }), [false, 'user false']);
  assert.deepEqual(await resultOf({ id: profile.id, username: 'ANN', password: profile.password }), [true, 'user true', 'password true']);
  assert.deepEqual(await resultOf({ id: profile.id, username: 'ann', password: 'another one' }), [false, 'user true', 'password false']);
  assert.deepEqual(await resultOf({ id: profile.id, username: 'bob', password: 'another one' }), [false, 'user false']);
  const { status, body } = await postern.send('loginprofile/test', { id: profile.id });
  assert.deepEqual([status, body.errors[0].field], [400, 'username']);
  assert.equal((await postern.send('loginprofile/test', { id: 987 })).status, 404);
});

test('loginprofile/test cannot be used to guess passwords: after six wrong passwords for a user, it returns 429', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern, ['ann', 'bob']);
  const testProfile = (username: string, password: string) => postern.send('loginprofile/test', { id: profile.id, username, password });
  const guesses = await Promise.all(Array.from({ length: 30 }, (_, number) => testProfile('ann', `guess ${number}`)));
  assert.ok(guesses.filter(({ status }) => status === 200).length <= 6);
  const refusal = await testProfile('ANN', profile.password);
  assert.deepEqual([refusal.status, refusal.body.code], [429, 'tooManyFailures']);
  for (let round = 0; round < 10; round += 1) assert.equal((await testProfile('bob', profile.password)).body.works, true);
  assert.equal((await postern.send('loginprofile/test', { id: profile.id, username: 'cat' })).status, 400);
});

test('tests that fail before a password is checked do not count toward the limit of loginprofile/test', async (t) => {
  const postern = await startPostern(t, { environment: { POSTERN_PRIVATE_TARGETS: '127.0.0.1' } });
  const { id } = await postern.call('loginprofile/add', { title: 'Door', typeId: 2, username: 'guest', password: 'correct horse battery' });
  const testProfile = (body: object) =>
    postern.send('loginprofile/test', { id, username: 'guest', password: 'correct horse battery', ...body });
  for (let round = 0; round < 7; round += 1) assert.equal((await testProfile({ username: 'host' })).status, 200);
  for (let round = 0; round < 7; round += 1) assert.equal((await testProfile({ username: '' })).status, 400);
  assert.equal((await testProfile({})).body.works, true);
  const configuration = JSON.stringify({ url: 'ldap://127.0.0.1:1', baseDn: 'dc=test', bindPattern: '{username}' });
  const directory = await postern.call('loginprofile/add', { title: 'Directory', typeId: 7, configuration });
  for (let round = 0; round < 7; round += 1) {
    const { status, body } = await testProfile({ id: directory.id });
    assert.deepEqual([status, body.steps[0].step, body.works], [200, 'connection', false]);
  }
});

test('loginprofile/test says whether codes can be mailed', async (t) => {
  for (const [environment, works] of [
    [{}, false],
    [mailSettings, true],
  ] as const) {
    const postern = await startPostern(t, { environment });
    const profile = await postern.call('loginprofile/add', { title: 'Codes', typeId: 4, configuration: '{}' });
    assert.equal((await postern.call('loginprofile/test', { id: profile.id })).works, works);
  }
});

test('loginprofile/test checks the metadata, keys and client secret of a provider, and its response does not contain the secret', async (t) => {
  const provider = await startForgingProvider(t);
  const postern = await startPostern(t, { environment: { POSTERN_PRIVATE_TARGETS: '127.0.0.1' } });
  const configuration = JSON.stringify(provider.configuration);
  const { id } = await postern.call('loginprofile/add', { title: 'Example Inc.', typeId: 5, configuration });
  const refuseWith = (status: number, error: string) =>
    provider.responses.set('/token', (_, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
    });
  const testSteps = async () => {
    const text = JSON.stringify(await postern.call('loginprofile/test', { id }));
    assert.ok(!text.includes(provider.configuration.clientSecret));
    const steps: { step: string; passed: boolean; detail: string }[] = JSON.parse(text).steps;
    return steps.map(({ step, passed }) => `${step} ${passed}`);
  };
  refuseWith(400, 'invalid_grant');
  assert.deepEqual(await testSteps(), ['metadata true', 'keys true', 'client true']);
  refuseWith(401, 'invalid_client');
  assert.deepEqual(await testSteps(), ['metadata true', 'keys true', 'client false']);
  for (const keys of ['{"keys":[]}', 'null', 'no JSON']) {
    provider.responses.set('/keys', (_, response) => void response.setHeader('content-type', 'application/json').end(keys));
    assert.deepEqual(await testSteps(), ['metadata true', 'keys false']);
    assert.equal(
      (await postern.call('loginprofile/test', { id })).steps.at(-1).detail,
      'The address of the keys (jwks_uri) returned no keys.',
    );
  }
  provider.responses.set('/.well-known/openid-configuration', (_, response) => void response.writeHead(404).end());
  assert.deepEqual(await testSteps(), ['metadata false']);
});
