import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const deploy = join(import.meta.dirname, '../../deploy');

test('systemd accepts the unit file', (t) => {
  const { status, stderr, error } = spawnSync('systemd-analyze', ['verify', join(deploy, 'postern.service')], { encoding: 'utf8' });
  if (error) return t.skip('systemd-analyze is not installed');
  const unitMessages = stderr.split('\n').filter((line) => line.includes('postern.service'));
  assert.deepEqual([status === 0 || unitMessages.length === 0, unitMessages], [true, []]);
});

test('the systemd unit allows AF_INET, AF_INET6, AF_NETLINK and AF_UNIX only', () => {
  const unit = readFileSync(join(deploy, 'postern.service'), 'utf8');
  const families = /^RestrictAddressFamilies=(.*)$/m.exec(unit)?.[1]?.split(' ');
  assert.deepEqual(families?.toSorted(), ['AF_INET', 'AF_INET6', 'AF_NETLINK', 'AF_UNIX']); // Node.js lists the addresses of the machine through AF_NETLINK
});

test('under the systemd unit, a new folder can inherit the setgid bit of its parent', () => {
  const unit = readFileSync(join(deploy, 'postern.service'), 'utf8');
  assert.doesNotMatch(unit, /^RestrictSUIDSGID=(true|yes|on|1)$/m);
  assert.match(unit, /^NoNewPrivileges=true$/m);
});

test('the container runs as a numeric user other than root, so that Kubernetes can check that the user is not root', () => {
  assert.match(readFileSync(join(deploy, 'Containerfile'), 'utf8'), /^USER [1-9]\d*:[1-9]\d*$/m);
});
