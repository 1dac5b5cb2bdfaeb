import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import type { TestContext } from 'node:test';
import { fieldErrorAt } from '../api/field-errors.ts';
import { type Json, startPostern } from '../start.ts';

const environment = { POSTERN_PRIVATE_TARGETS: '127.0.0.1' };

/** A location at a service, with a secret in its configuration. */
interface SecretLocation {
  readonly kind: string;
  readonly configuration: object;
  /** The member that holds the secret. */
  readonly secretMember: string;
  /** Another secret of the same form. */
  readonly wrongSecret: string;
  /** The address of another server, as members of the configuration. */
  readonly otherServer: Record<string, string>;
}

/**
 * Checks that `location/test` and `location/browse` work, that a location's secret is masked and in no audit entry or log line, and that
 * the stored secret is not sent to another server.
 */
export async function checkLocationSecrets(
  t: TestContext,
  { kind, configuration, secretMember, wrongSecret, otherServer }: SecretLocation,
): Promise<void> {
  const log = new PassThrough({ encoding: 'utf8' });
  let lines = '';
  log.on('data', (text: string) => {
    lines += text;
  });
  const postern = await startPostern(t, { environment, replacements: { log } });
  const { id } = await postern.call('location/add', { name: 'service', kind, configuration: JSON.stringify(configuration) });
  const location = await postern.call('location/get', { id });
  const maskedConfiguration = { ...configuration, [secretMember]: '********' };
  assert.deepEqual(JSON.parse(location.configuration), maskedConfiguration);
  await postern.call('location/update', { id, name: 'renamed', configuration: location.configuration });
  const { works, steps } = await postern.call('location/test', { id });
  assert.deepEqual([works, steps.map(({ step }: Json) => step).join(' ')], [true, 'connect signIn list write read conditions remove']);
  assert.deepEqual((await postern.call('location/browse', { location: 'renamed' })).entries, []);

  const [otherMember = ''] = Object.keys(otherServer);
  const answer = await postern.send('location/update', { id, configuration: JSON.stringify({ ...maskedConfiguration, ...otherServer }) });
  assert.match(fieldErrorAt(answer, 'configuration'), new RegExp(`${secretMember} must be the secret itself.*${otherMember} has changed`));

  await postern.call('location/update', { id, configuration: JSON.stringify({ ...configuration, [secretMember]: wrongSecret }) });
  const failedTest = await postern.call('location/test', { id });
  assert.deepEqual([failedTest.works, failedTest.steps.at(-1).step, failedTest.steps.length], [false, 'signIn', 2]);
  assert.equal((await postern.send('location/browse', { location: 'renamed' })).status, 503);
  const output = JSON.stringify(await postern.call('audit/search', { pageSize: 100 })) + lines;
  for (const secret of [Reflect.get(configuration, secretMember), wrongSecret]) assert.ok(!output.includes(secret));
}
