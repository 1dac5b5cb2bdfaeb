import assert from 'node:assert/strict';
import { test } from 'node:test';
import { XmlReader } from './xml-reader.ts';

const metadata = { xml: '<x/>', entityId: null, now: 0 };

test('a document that takes too long is refused, and the next one is read', async (t) => {
  await using reader = new XmlReader();
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const slow = assert.rejects(reader.readMetadata(metadata), /too much time/);
  await null; // until it has been sent
  t.mock.timers.tick(2000);
  t.mock.timers.reset();
  await slow;
  await assert.rejects(reader.readMetadata(metadata), /describes no identity provider/);
});
