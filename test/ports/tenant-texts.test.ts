import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Connection, openConnection } from '#adapters/store/sqlite/connection.ts';
import { TenantTexts } from '#adapters/store/sqlite/search/tenant-texts.ts';
import { atEnd } from '../parts/at-end.ts';
import { temporaryFolder } from '../start.ts';
import { until } from './until.ts';

const sharesPerTenant = 300;
const bytesOfOneTenant = sharesPerTenant * 100; // bytes: enough for the texts of one tenant, not of two
const first = { table: 'share', tid: 1 } as const;
const second = { table: 'share', tid: 2 } as const;

/** Creates a database with the shares of two tenants, and a connection that records its queries. */
async function createTwoTenants(t: TestContext) {
  const connection = openConnection(join(await temporaryFolder(t), 'texts.db'), { readOnly: false });
  atEnd(t, () => connection.database.close());
  connection.database.exec('CREATE TABLE share (id INTEGER PRIMARY KEY, tid INTEGER, location_id INTEGER, search_text TEXT) STRICT');
  for (let id = 1; id <= 2 * sharesPerTenant; id += 1)
    connection.run('INSERT INTO share VALUES (?, ?, 1, ?)', [id, 1 + (id % 2), `number ${id} of a tenant's shares`]);
  const queries: string[] = [];
  const recordingConnection: Connection = {
    ...connection,
    run(sql, parameters) {
      queries.push(`${/octet_length/.test(sql) ? 'lengths' : 'texts'} of ${parameters[0]}`);
      return connection.run(sql, parameters);
    },
  };
  return { connection, recordingConnection, queries };
}

test('preloaded texts are read once, and include changes that are made in the meantime', async (t) => {
  const { connection, recordingConnection, queries } = await createTwoTenants(t);
  const texts = new TenantTexts(recordingConnection, bytesOfOneTenant);
  texts.preload(first);
  connection.run('UPDATE share SET search_text = ? WHERE id = ?', ['renamed', 2]);
  texts.applyChanges([{ ...first, id: 2 }]);
  const index = await texts.get(first);
  assert.deepEqual(index?.find('renamed', []).toArray(), [2]);
  assert.equal(index?.size, sharesPerTenant);
  texts.preload(first);
  assert.equal(await texts.get(first), index);
  assert.deepEqual(queries, ['lengths of 1', 'texts of 1', 'texts of 1'], 'the third query is for the change');
});

test('preloading the texts of a tenant does not evict those of another tenant from the cache, but a search does', async (t) => {
  const { recordingConnection, queries } = await createTwoTenants(t);
  const texts = new TenantTexts(recordingConnection, bytesOfOneTenant);
  const index = await texts.get(first);
  texts.preload(second);
  await until(() => queries.includes('lengths of 2'));
  assert.equal(await texts.get(first), index);
  assert.ok(!queries.includes('texts of 2'));
  assert.equal((await texts.get(second))?.size, sharesPerTenant);
  assert.notEqual(await texts.get(first), index, 'the texts of the first tenant are read again');
});

test('texts that grow beyond the memory limit are evicted', async (t) => {
  const { connection, recordingConnection } = await createTwoTenants(t);
  const texts = new TenantTexts(recordingConnection, 2 * bytesOfOneTenant);
  const index = await texts.get(first);
  for (let id = 2; id <= 2 * sharesPerTenant; id += 2) {
    connection.run('UPDATE share SET search_text = ? WHERE id = ?', ['long '.repeat(100), id]);
    texts.applyChanges([{ ...first, id }]);
  }
  assert.ok((index?.bytes ?? 0) < 2.5 * bytesOfOneTenant, 'evicted texts are no longer updated');
  assert.equal(await texts.get(first), null);
  assert.equal((await texts.get(second))?.size, sharesPerTenant, 'other tenants can use the memory');
});
