import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type RequestTurns, requestTurns, type TurnRequest } from './request-turns.ts';

/** A clock that each request advances by its work. */
function workClock() {
  let time = 0;
  return { now: () => time, work: (milliseconds: number) => (time += milliseconds) };
}
const nextTurn = () => new Promise(setImmediate);
const noParsing = () => 0;
/** Returns a request whose client waits for the response. */
const waitingRequest = (start: () => void): TurnRequest => ({ start, onLeave: () => {}, drop: () => assert.fail('was dropped') });

/** Starts a request, or lets it wait. */
function run(turns: RequestTurns, address: string, request: TurnRequest): void {
  if (turns.takeStart()) request.start();
  else turns.wait(address, request);
}

test('the request of one network starts before most of the hundreds that another network has sent', async () => {
  const clock = workClock();
  const turns = requestTurns(clock.now, noParsing);
  const startedAddresses: string[] = [];
  const send = (address: string, work: number) =>
    run(
      turns,
      address,
      waitingRequest(() => {
        clock.work(work);
        startedAddresses.push(address);
      }),
    );
  for (let number = 0; number < 400; number += 1) send('192.0.2.1', 1);
  await nextTurn();
  send('198.51.100.1', 0);
  while (startedAddresses.length < 401) await nextTurn();
  const position = startedAddresses.indexOf('198.51.100.1');
  assert.ok(position < 100, `started as number ${position}`);
});

test('fewer requests start after a busy iteration of the event loop, and more start again after iterations with little work', async () => {
  const clock = workClock();
  const turns = requestTurns(clock.now, noParsing);
  let starts = 0;
  async function startsInNextTurn(work: number): Promise<number> {
    starts = 0;
    await nextTurn();
    const inTurn = starts;
    for (let number = 0; number < inTurn; number += 1) send(work); // each answered client sends its next request
    return inTurn;
  }
  const send = (work: number) =>
    run(
      turns,
      '192.0.2.1',
      waitingRequest(() => {
        clock.work(work);
        starts += 1;
      }),
    );
  for (let number = 0; number < 300; number += 1) send(2);
  const busy = [await startsInNextTurn(2), await startsInNextTurn(2), await startsInNextTurn(0)].at(-1) ?? 0;
  assert.ok(busy <= 8, `${busy} in a busy turn`);
  let idle = 0;
  for (let turn = 0; turn < 300; turn += 1) idle = Math.max(idle, await startsInNextTurn(0));
  assert.equal(idle, 64);
});

test('time that is spent on parsing does not lower the number of requests that start', async () => {
  const clock = workClock();
  let parseTime = 0;
  const turns = requestTurns(clock.now, () => parseTime);
  let starts = 0;
  for (let number = 0; number < 300; number += 1)
    run(
      turns,
      '192.0.2.1',
      waitingRequest(() => {
        starts += 1;
      }),
    );
  for (let turn = 0; turn < 4; turn += 1) {
    clock.work(10); // a client sends chunks of one byte
    parseTime += 10;
    await nextTurn();
  }
  assert.equal(starts, 300);
});

test('every request starts, and the requests of one network start in the order in which they were sent', async () => {
  const turns = requestTurns(() => performance.now(), noParsing);
  const startedNumbers: number[] = [];
  for (let number = 0; number < 500; number += 1)
    run(
      turns,
      '192.0.2.1',
      waitingRequest(() => startedNumbers.push(number)),
    );
  while (startedNumbers.length < 500) await nextTurn();
  assert.deepEqual(
    startedNumbers,
    startedNumbers.toSorted((one, other) => one - other),
  );
});

test('a request whose client leaves while it waits does not start, and takes no turn', async () => {
  const turns = requestTurns(() => performance.now(), noParsing);
  let [startCount, dropCount] = [0, 0];
  const leaves: (() => void)[] = [];
  const send = () =>
    run(turns, '192.0.2.1', { start: () => (startCount += 1), onLeave: (leave) => leaves.push(leave), drop: () => (dropCount += 1) });
  for (let number = 0; number < 64 + 10_000; number += 1) send(); // 64 start at once
  for (const leave of leaves) leave();
  assert.deepEqual([startCount, dropCount], [64, 10_000]);
  send();
  await nextTurn();
  assert.equal(startCount, 65);
  for (const leave of leaves) leave(); // has no effect on a request that has started
  assert.deepEqual([startCount, dropCount], [65, 10_000]);
});
