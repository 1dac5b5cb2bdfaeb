import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { readinessCheck } from '#features/health/readiness.ts';
import type { Ports } from '#ports/ports.ts';
import { startWithStorages } from '../parts/intercepted-postern.ts';
import { until } from '../ports/until.ts';
import { newShare, startPostern, temporaryFolder } from '../start.ts';
import { runPostern } from './run-postern.ts';

test('repeated readiness requests do not make Postern check its locations each time', async (t) => {
  let checks = 0;
  const postern = await startWithStorages(t, (method) => {
    if (method === 'storage.check') checks += 1;
  });
  await until(async () => (await postern.visit('/health/ready')).body.locations.length === 1);
  for (let number = 0; number < 20; number += 1) {
    const { status, body } = await postern.visit('/health/ready');
    assert.equal(status, 200);
    assert.deepEqual(body.locations.length, 1);
  }
  assert.equal(checks, 1);
});

test('Postern is ready before its locations have responded, and reports them after their first check', async (t) => {
  const { ports } = await startPostern(t);
  const response = Promise.withResolvers<void>();
  const open: Ports['storages']['open'] = async (location) => {
    const storage = await ports.storages.open(location);
    return Object.create(storage, { traits: { value: { ...storage.traits, openAhead: 1 } }, check: { value: () => response.promise } });
  };
  using check = readinessCheck({ ...ports, storages: { ...ports.storages, open } }, async () => {});
  const { store, locations } = await check.readiness();
  assert.deepEqual([store, locations], [true, []]);
  response.resolve();
  await until(async () => (await check.readiness()).locations[0]?.answers === true);
});

test('readiness fails while the data folder is not writable', async (t) => {
  const postern = await startPostern(t);
  const probe = join(postern.data, 'probe');
  const isReady = async () => (await postern.visit('/health/ready')).status === 200;
  assert.ok(await isReady());
  rmSync(probe);
  mkdirSync(probe); // the write of the file fails, because a folder has its name
  await until(async () => !(await isReady()));
  assert.deepEqual((await postern.visit('/health/ready')).body.data, false);
  rmdirSync(probe);
  await until(isReady);
});

test('after an unclean shutdown, damaged database pages are found in the background and reported', { timeout: 20_000 }, async (t) => {
  const data = await temporaryFolder(t);
  const postern = await runPostern(t, { POSTERN_DATA: data });
  for (let number = 0; number < 40; number += 1) await postern.send('share/add', newShare({ description: 'x'.repeat(3000) }));
  postern.child.kill('SIGTERM');
  await postern.ended;
  const file = join(data, 'postern.db');
  const bytes = readFileSync(file);
  bytes.fill(0xff, bytes.length - 40 * 4096, bytes.length - 4096); // pages of shares, at the end of the file
  writeFileSync(file, bytes);
  const killedPostern = await runPostern(t, { POSTERN_DATA: data });
  killedPostern.child.kill('SIGKILL'); // an unclean shutdown
  await killedPostern.ended;

  const restartedPostern = await runPostern(t, { POSTERN_DATA: data });

  await restartedPostern.waitForOutput(/postern\.db is damaged/);
  const ready = await fetch(`${restartedPostern.publicUrl}/health/ready`);
  assert.deepEqual([ready.status, ((await ready.json()) as { damaged: boolean }).damaged], [200, true]);
});
