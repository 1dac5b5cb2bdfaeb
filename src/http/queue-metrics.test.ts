import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { jobGauges, mailGauges } from './queue-metrics.ts';

const value = (metrics: string, name: string) => new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'm').exec(metrics)?.[1];

test('each response shows the current age of the oldest waiting mail and job', async () => {
  const registry = new Registry();
  let oldest = 0;
  jobGauges(registry, async () => [{ kind: 'upkeep', waiting: 1, running: 0, failed: 0, oldest }]);
  mailGauges(registry, async () => ({ byState: { waiting: 1, sending: 0, sent: 0, failed: 0, dropped: 0, held: 0 }, oldest }));
  for (oldest of [3000, 7000]) {
    const metrics = await registry.metrics();
    for (const name of ['postern_job_oldest_seconds', 'postern_mail_oldest_seconds'])
      assert.equal(value(metrics, name), `${oldest / 1000}`, name);
  }
});

test('while the database does not respond, the ages of the oldest waiting mail and job are not shown as zero', async () => {
  const registry = new Registry();
  const fail = () => Promise.reject(new Error('no connection'));
  jobGauges(registry, fail);
  mailGauges(registry, fail);
  const metrics = await registry.metrics();
  assert.equal(value(metrics, 'postern_mail_oldest_seconds'), 'Nan');
  assert.equal(value(metrics, 'postern_job_oldest_seconds'), undefined);
});
