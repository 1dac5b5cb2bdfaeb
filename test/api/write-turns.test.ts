import assert from 'node:assert/strict';
import { test } from 'node:test';
import { environmentKeyName } from '#core/records/api-key.ts';
import type { WriteTurn } from '#ports/store.ts';
import { adminKey, cookieOf, createUsersProfile, newShare, signIn, startPostern } from '../start.ts';

const password = 'a horse that reads maps';
const secrets = { password, confirmPassword: password };

test('every write during a request takes turns with the writes of other clients', async (t) => {
  const postern = await startPostern(t);
  const profile = await createUsersProfile(postern);
  const share = await postern.call('share/add', newShare({ authenticationId: profile.id }));
  await postern.call('operator/add', { name: 'Olga', role: 'admin', ...secrets });
  const { store } = postern.ports;
  const { write } = store;
  const turns: WriteTurn[] = [];
  store.write = (change, turn, ...rest) => {
    turns.push(turn);
    return write(change, turn, ...rest);
  };

  await postern.send('login', { username: environmentKeyName, secretkey: adminKey }, { key: null });
  const operator = { name: 'Olga', password };
  await postern.send('operator/signIn', { ...operator, password: 'wrong' }, { key: null });
  const cookie = cookieOf(await postern.send('operator/signIn', operator, { key: null }));
  await postern.send('operator/signOut', {}, { key: null, headers: { cookie, origin: postern.apiUrl } });
  const session = await signIn(postern, new URL(share.viewUrl).pathname, 'ann');
  await postern.send('share/add', newShare({ viewId: share.viewId }));
  // This request must be the last: half a second after it, a job writes how many bytes were downloaded.
  await postern.visit(`${new URL(share.viewUrl).pathname}/file/welcome.txt`, { headers: { cookie: session } });

  assert.ok(turns.length >= 12, `only ${turns.length} writes`);
  assert.deepEqual(
    turns.filter((turn) => turn === 'job'),
    [],
  );
});
