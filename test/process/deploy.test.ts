import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const deploy = join(import.meta.dirname, '../../deploy');

test('the unit of systemd is one that systemd takes', (t) => {
  const { status, stderr, error } = spawnSync('systemd-analyze', ['verify', join(deploy, 'postern.service')], { encoding: 'utf8' });
  if (error) return t.skip('systemd-analyze is not installed');
  const ours = stderr.split('\n').filter((line) => line.includes('postern.service'));
  assert.deepEqual([status === 0 || ours.length === 0, ours], [true, []]);
});

test('a unit may use every kind of socket that the program opens', () => {
  const unit = readFileSync(join(deploy, 'postern.service'), 'utf8');
  const families = /^RestrictAddressFamilies=(.*)$/m.exec(unit)?.[1]?.split(' ');
  assert.deepEqual(families?.toSorted(), ['AF_INET', 'AF_INET6', 'AF_NETLINK', 'AF_UNIX']); // Node.js lists addresses by AF_NETLINK
});

test('the container runs as a number that is not root, which Kubernetes can see', () => {
  assert.match(readFileSync(join(deploy, 'Containerfile'), 'utf8'), /^USER [1-9]\d*:[1-9]\d*$/m);
});
