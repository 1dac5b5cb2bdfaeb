import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Refusal } from '#core/messages.ts';
import { changesInTurn } from '#features/visits/files/changes-in-turn.ts';

const neverAborted = new AbortController().signal;
const visitor = { viewId: 'link', address: '192.0.2.1', locationId: 1 };
const isRefusal = (messageName: string) => (cause: unknown) => cause instanceof Refusal && cause.messageName === messageName;

test('a change that continues after its response was sent keeps its turn until the storage has responded', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const changes = changesInTurn(1000);
    const [storageResponse, startedNames] = [Promise.withResolvers<void>(), [] as string[]];
    const running = ['first', 'second', 'third'].map((name) =>
      changes.run(visitor, neverAborted, async () => {
        startedNames.push(name);
        await storageResponse.promise;
      }),
    );
    await new Promise(setImmediate);
    const responses = Promise.allSettled(running);
    mock.timers.tick(1000);
    const reasons = (await responses).map((result) => result.status === 'rejected' && result.reason);
    assert.deepEqual(
      reasons.map((cause) => cause instanceof Refusal && cause.messageName),
      ['storageAway', 'storageAway', 'changesBusy'],
    );
    assert.deepEqual(startedNames, ['first', 'second']);
    storageResponse.resolve();
    await new Promise(setImmediate);
    assert.equal(await changes.run(visitor, neverAborted, async () => 'made'), 'made');
  } finally {
    mock.timers.reset();
  }
});

test('if a change fails, its caller gets the error of the change', async () => {
  const changes = changesInTurn(1000);
  await assert.rejects(
    changes.run(visitor, neverAborted, async () => {
      throw new Refusal('itemAbsent');
    }),
    isRefusal('itemAbsent'),
  );
});
