import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ProviderUnavailable } from '#ports/provider-errors.ts';
import { XmlLane } from './xml-lane.ts';
import { XmlReader } from './xml-reader.ts';

const metadata = { xml: '<x/>', entityId: null, now: 0 };
const responseOf = (response: string) => ({ response, issuer: '', certificates: [], entityId: '', acsUrl: '', now: 0 });

test('a document that takes too long is refused, and the next one is read', async (t) => {
  await using lane = new XmlLane();
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const slow = assert.rejects(lane.read({ metadata }), /too much time/);
  t.mock.timers.tick(2000);
  t.mock.timers.reset();
  await slow;
  await assert.rejects(lane.read({ metadata }), /describes no identity provider/);
});

/** Returns a reader, the names of the documents that its two lanes have started to read, and a function that ends one reading. */
function controlledReader() {
  let now = 0;
  const startedNames: string[] = [];
  const pendingReads: (() => void)[] = [];
  function fakeLane() {
    const lane = {
      isBusy: false,
      async read(task: Parameters<XmlLane['read']>[0]) {
        startedNames.push('response' in task ? task.response.response : 'metadata');
        lane.isBusy = true;
        await new Promise<void>((resolve) => pendingReads.push(resolve));
        lane.isBusy = false;
      },
      async [Symbol.asyncDispose]() {},
    };
    return lane;
  }
  const reader = new XmlReader(() => now, [fakeLane(), fakeLane()]);
  /** Ends the oldest reading, after 100 ms. */
  const finish = async () => {
    now += 100;
    pendingReads.shift()?.();
    await new Promise(setImmediate);
  };
  return { reader, startedNames, finish };
}

test('the documents of one tenant are read one after the other, and documents of other tenants do not wait for them', async () => {
  const { reader, startedNames, finish } = controlledReader();
  for (const name of ['a1', 'a2', 'a3']) void reader.readResponse(responseOf(name), 1, 'network');
  void reader.readMetadata(metadata, 1);
  assert.deepEqual(startedNames, ['a1']);
  void reader.readResponse(responseOf('b'), 2, 'network');
  assert.deepEqual(startedNames, ['a1', 'b']);
  void reader.readResponse(responseOf('c'), 3, 'network');
  await finish();
  assert.deepEqual(startedNames, ['a1', 'b', 'c']);
  for (let count = 0; count < 5; count += 1) await finish();
  assert.equal(startedNames.length, 6);
});

test('the first response of a network does not wait for all responses of networks that have sent many', async () => {
  const { reader, startedNames, finish } = controlledReader();
  for (const network of ['x', 'y', 'z'])
    for (const name of ['1', '2', '3']) void reader.readResponse(responseOf(network + name), 1, network);
  for (let count = 0; count < 4; count += 1) await finish();
  void reader.readResponse(responseOf('victim'), 1, 'another network');
  for (let count = 0; count < 2; count += 1) await finish();
  assert.ok(startedNames.includes('victim'), startedNames.join());
});

test('metadata whose turn does not come within five seconds is dropped, and responses are still read', async (t) => {
  const { reader, startedNames, finish } = controlledReader();
  t.mock.timers.enable({ apis: ['setTimeout'] });
  void reader.readResponse(responseOf('slow'), 1, 'network');
  const dropped = reader.readMetadata(metadata, 1);
  void reader.readResponse(responseOf('next'), 1, 'network');
  t.mock.timers.tick(5000);
  await assert.rejects(dropped, ProviderUnavailable);
  await finish();
  assert.deepEqual(startedNames, ['slow', 'next']);
});
