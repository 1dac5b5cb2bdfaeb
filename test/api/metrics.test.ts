import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { operations } from '#features/operations.ts';
import { adminKey, createUsersProfile, newShare, startPostern, type TestPostern } from '../start.ts';
import { fieldErrorsOf } from './field-errors.ts';

const metricsOf = async (postern: TestPostern, key: string) =>
  await postern.visit('/metrics', { headers: { authorization: `Bearer ${key}` } });

/** Returns the value of one sample. `name` includes the labels, in the Prometheus text format. */
async function sample(postern: TestPostern, name: string): Promise<number> {
  const { body } = await metricsOf(postern, adminKey);
  const line = String(body)
    .split('\n')
    .find((one) => one.startsWith(`${name} `));
  assert.ok(line, `${name} is among the metrics`);
  return Number(line.slice(name.length));
}

test('only the roles metrics and admin can read /metrics, and the role metrics can call no operation', async (t) => {
  const postern = await startPostern(t);
  const add = async (role: string) => (await postern.call('apikey/add', { name: role, role })).key;
  const [metrics, reader, editor] = [await add('metrics'), await add('reader'), await add('editor')];
  const status = async (key: string) => (await metricsOf(postern, key)).status;
  assert.deepEqual([await status(metrics), await status(adminKey), await status(reader), await status(editor)], [200, 200, 403, 403]);
  for (const { name, method } of operations) assert.equal((await postern.send(name, {}, { key: metrics, method })).status, 403, name);
});

test('only tenant 1 can have keys with the role metrics, because metrics cover all tenants; no operator has this role', async (t) => {
  const postern = await startPostern(t);
  const { id: tid } = await postern.call('tenant/add', { title: 'Second' });
  const { key } = await postern.call('apikey/add', { name: 'admin', role: 'admin', tid });
  const refusal = await postern.send('apikey/add', { name: 'm', role: 'metrics' }, { key });
  assert.deepEqual([refusal.status, fieldErrorsOf(refusal)], [400, ['role']]);
  const password = 'a horse that reads maps';
  const operator = await postern.send('operator/add', { name: 'Olga', role: 'metrics', password, confirmPassword: password });
  assert.deepEqual([operator.status, fieldErrorsOf(operator)], [400, ['role']]);
});

test('the metrics show the version, refused sign-ins, bytes in and out, disk space, database times and queue lengths', async (t) => {
  const postern = await startPostern(t);
  const { id: authenticationId } = await createUsersProfile(postern, ['ann']);
  const { viewId } = await postern.call('share/add', newShare({ authenticationId }));
  const { version } = JSON.parse(await readFile(join(import.meta.dirname, '../../package.json'), 'utf8'));
  assert.equal(await sample(postern, `postern_build_info{version="${version}"}`), 1);

  assert.equal(await sample(postern, 'postern_sign_ins_refused_total{reason="wrong"}'), 0);
  const before = await sample(postern, 'postern_bytes_received_total');
  const body = JSON.stringify({ username: 'ann', password: 'wrong horse battery' });
  const headers = { 'content-type': 'application/json' };
  await postern.visit(`/s/${viewId}/sign-in`, { method: 'POST', headers, body });
  assert.equal(await sample(postern, 'postern_sign_ins_refused_total{reason="wrong"}'), 1);
  assert.equal(await sample(postern, 'postern_refusals_total{code="signInWrong"}'), 1);
  assert.ok((await sample(postern, 'postern_bytes_received_total')) >= before + body.length);
  assert.ok((await sample(postern, 'postern_bytes_sent_total')) > 1000);

  const [free, size] = [
    await sample(postern, 'postern_disk_bytes{state="free"}'),
    await sample(postern, 'postern_disk_bytes{state="total"}'),
  ];
  assert.ok(free > 0 && size >= free);
  assert.ok((await sample(postern, 'postern_store_write_seconds_count')) > 0);
  assert.ok((await sample(postern, 'postern_store_read_seconds')) >= 0);
  for (const queue of ['passwords', 'folders']) assert.equal(await sample(postern, `postern_queue_length{queue="${queue}"}`), 0);
});

test('the Grafana dashboard queries only metrics that Postern has', async (t) => {
  const postern = await startPostern(t);
  const metricsText = String((await metricsOf(postern, adminKey)).body);
  const dashboard = JSON.parse(await readFile(join(import.meta.dirname, '../../deploy/grafana-dashboard.json'), 'utf8'));
  const expressions = dashboard.panels.flatMap(({ targets = [] }: { targets?: { expr: string }[] }) => targets.map(({ expr }) => expr));
  assert.ok(expressions.length > 8);
  for (const expression of expressions)
    for (const [name] of String(expression).matchAll(/\b(postern|process|nodejs)_\w+/g))
      assert.match(metricsText, new RegExp(`^# TYPE ${name.replace(/_(bucket|count|sum)$/, '')} `, 'm'), expression);
});
