import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migrations } from '../../src/adapters/store/migrations/migrations.ts';
import { backupLines, backupSource } from '../../src/features/copies/backup-lines.ts';
import { splitLines } from '../../src/features/copies/backup-text.ts';
import type { CopiedRow } from '../../src/features/copies/copied-tables.ts';
import { newShare, startPostern } from '../start.ts';

const migrationNames = migrations.map(({ name }) => name);

test('a backup of audit entries of more than a megabyte each is written and read in small pages', async (t) => {
  const postern = await startPostern(t);
  await postern.call('share/add', newShare());
  const { store } = postern.ports;
  const [entry] = await store.read.selectFrom('audit').selectAll().limit(1).execute();
  assert.ok(entry);
  const { id: _, ...row } = entry;
  const large = JSON.stringify({ userNames: '"字"'.repeat(1 << 18) });
  for (let index = 0; index < 40; index += 1)
    await store.write(
      (tx) =>
        tx
          .insertInto('audit')
          .values({ ...row, before: large, after: `${index}` })
          .execute(),
      'job',
    );
  const ids = async () => (await store.read.selectFrom('audit').select('id').orderBy('id').execute()).map(({ id }) => id);
  const pieces: Buffer[] = [];
  for await (const text of backupLines({ db: store.read, lastIds: {} }, migrationNames, () => {})) {
    pieces.push(Buffer.from(text));
    assert.ok(text.length < 4 << 20, `a text of ${text.length} characters`);
  }
  const smallPieces = async function* () {
    for (const piece of pieces) for (let at = 0; at < piece.length; at += 5000) yield piece.subarray(at, at + 5000);
  };
  const audit: CopiedRow[] = [];
  const tables = new Set<string>();
  for await (const { table, rows } of backupSource(() => splitLines(smallPieces()), migrationNames).pages()) {
    tables.add(table);
    if (table !== 'audit') continue;
    assert.ok(rows.length <= 17, `${rows.length} rows of a megabyte in a page`);
    audit.push(...rows);
  }
  assert.deepEqual(
    audit.map(({ id }) => id),
    await ids(),
  );
  assert.ok(tables.has('share'));
});
