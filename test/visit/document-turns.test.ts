import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Refusal } from '#core/messages.ts';
import { documentTurns, officeTurns } from '#features/visits/documents/document-turns.ts';

const { signal } = new AbortController();
const never = new Promise<never>(() => {});
const maxDocumentBytes = 64 << 20;
const visitorOf = (tid: number, link: number) => ({ tid, viewId: `link ${link}`, address: `10.0.${link}.1` });

for (const [name, newTurns] of [
  ['documents', documentTurns],
  ['Office documents', officeTurns],
] as const)
  test(`${name} of four tenants whose storages hang delay no document of usual size of another tenant`, async () => {
    const inTurn = newTurns();
    for (const tid of [1, 2, 3, 4])
      for (let link = 0; link < 20; link += 1) {
        const waiting = inTurn(visitorOf(tid, link), signal, async (takeMemory) => {
          await takeMemory(maxDocumentBytes);
          return never;
        });
        void waiting.catch(() => {});
      }
    const result = await inTurn(visitorOf(5, 0), signal, async (takeMemory) => {
      await takeMemory(8 << 20);
      return 'drawn';
    });
    assert.equal(result, 'drawn');
  });

/** Keeps the process of the test running: the pauses of the turns do not. */
function keepRunning(t: TestContext): void {
  const timer = setInterval(() => {}, 1000);
  t.after(() => clearInterval(timer));
}

test('a document for which there is too little memory waits until another one has ended', async (t) => {
  keepRunning(t);
  const inTurn = documentTurns();
  const end = Promise.withResolvers<void>();
  const first = inTurn(visitorOf(1, 1), signal, async (takeMemory) => {
    await takeMemory(4 * maxDocumentBytes);
    await end.promise;
  });
  void inTurn(visitorOf(2, 2), signal, async (takeMemory) => {
    await takeMemory(2 * maxDocumentBytes);
    return never;
  });
  let hasMemory = false;
  const third = inTurn(visitorOf(3, 3), signal, async (takeMemory) => {
    await takeMemory(2 * maxDocumentBytes);
    hasMemory = true;
  });
  await new Promise(setImmediate);
  assert.equal(hasMemory, false);
  end.resolve();
  await Promise.all([first, third]);
});

test('if too many documents of a network wait, a further one is refused with a time after which to try again', async () => {
  const inTurn = documentTurns();
  const waiting = Array.from({ length: 100 }, () => inTurn(visitorOf(1, 1), signal, () => never));
  const refusal = await Promise.any(waiting.map((turn) => turn.then(assert.fail, (cause: unknown) => cause)));
  assert.ok(refusal instanceof Refusal);
  assert.deepEqual([refusal.messageName, refusal.extras.retryAfter], ['documentsBusy', 2]);
});

test('a visitor who disconnects while a document waits for memory waits no longer', async (t) => {
  keepRunning(t);
  const client = new AbortController();
  const waiting = documentTurns()(visitorOf(1, 1), client.signal, (takeMemory) => takeMemory(1 << 30));
  client.abort(new Error('the client has gone'));
  await assert.rejects(waiting, /the client has gone/);
});
