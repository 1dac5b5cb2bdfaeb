import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { newShare, temporaryFolder } from '../start.ts';
import { runPostern } from './run-postern.ts';

const nobody = 65_534;
const unit = readFileSync(join(import.meta.dirname, '../../deploy/postern.service'), 'utf8');

/** Restrictions of the unit, and shell commands that apply them: the machine of the test may run without systemd. */
const restrictions: Readonly<Record<string, readonly string[]>> = {
  'ProtectSystem=strict': ['mount --bind "$POSTERN_DATA" "$POSTERN_DATA"', 'mount -o remount,bind,ro /'],
  'ProtectHome=true': ['mount -t tmpfs -o mode=0,ro tmpfs /home', 'mount -t tmpfs -o mode=0,ro tmpfs /root'],
  'UMask=0077': ['umask 0077'],
};
const dropPrivileges = `exec setpriv --reuid=${nobody} --regid=${nobody} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all "$0" "$@"`;

test('with read-only folders, the umask and the dropped privileges of its systemd unit, Postern starts, and upload and download work', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('not root');
  if (spawnSync('unshare', ['-m', 'true']).status !== 0) return t.skip('mount namespaces are not permitted');
  for (const line of [...Object.keys(restrictions), 'NoNewPrivileges=true', 'CapabilityBoundingSet='])
    assert.match(unit, new RegExp(`^${line}$`, 'm'));
  const data = await temporaryFolder(t);
  chownSync(data, nobody, nobody);
  chmodSync(data, 0o700);
  const script = ['set -e', ...Object.values(restrictions).flat(), dropPrivileges].join('\n');
  const postern = await runPostern(t, { POSTERN_DATA: data }, ['unshare', '-m', '--propagation', 'private', 'sh', '-c', script]);
  const { viewId } = (await postern.send('share/add', newShare())).body;
  const file = `${postern.publicUrl}/s/${viewId}/file/a.txt`;
  assert.equal((await fetch(file, { method: 'PUT', body: 'a text' })).status, 201);
  assert.equal(await (await fetch(file)).text(), 'a text');
  assert.equal(statSync(join(data, 'files/a.txt')).uid, nobody);
  const status = readFileSync(`/proc/${postern.child.pid}/status`, 'utf8');
  for (const line of [/^NoNewPrivs:\t1$/m, /^CapEff:\t0+$/m, /^CapBnd:\t0+$/m, /^Uid:\t65534/m]) assert.match(status, line);
});
