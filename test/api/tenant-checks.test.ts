import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { addLocation } from '#features/locations/add-location.ts';
import type { Caller } from '#features/operation.ts';
import { tenantChecks } from '../../src/http/management/tenant-checks.ts';
import { startWithBlockedMethod } from '../parts/intercepted-postern.ts';
import { until } from '../ports/until.ts';

const admin = (tid: number): Caller => ({
  ...{ tid, name: 'key', role: 'admin', kind: 'key', id: 1, byProvider: false, lacksSecondFactor: false },
  ...{ credentialHash: '', address: '192.0.2.1', requestId: '' },
});

test('checks that read all tenants run one at a time per tenant, and do not delay other tenants', async () => {
  const checkInTurn = tenantChecks();
  let running = 0;
  let maxRunning = 0;
  const gates: (() => void)[] = [];
  const check = async () => {
    running += 1;
    maxRunning = Math.max(maxRunning, running);
    await new Promise<void>((resolve) => gates.push(resolve));
    running -= 1;
  };
  const checks = Array.from({ length: 5 }, () => checkInTurn(addLocation, admin(1), check));
  assert.equal(await checkInTurn(addLocation, admin(2), async () => 'checked'), 'checked');
  for (let ended = 0; ended < 5; ended += 1) {
    await new Promise(setImmediate);
    gates[ended]?.();
  }
  await Promise.all(checks);
  assert.equal(maxRunning, 1);
});

test('the locations that one tenant adds are checked one at a time', async (t) => {
  const { postern, calls, release } = await startWithBlockedMethod(t, 'storages.configurationError');
  const add = (name: string) =>
    postern.send('location/add', { name, kind: 'local', configuration: JSON.stringify({ folder: join(postern.files, name) }) });
  const requests = Promise.all(['a', 'b', 'c'].map(add));
  await until(() => calls() === 1);
  for (let read = 0; read < 5; read += 1) await postern.call('location/search');
  assert.equal(calls(), 1);
  release();
  await requests;
  assert.equal(calls(), 3);
});
