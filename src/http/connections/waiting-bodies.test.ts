import assert from 'node:assert/strict';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { waitingBodies } from './waiting-bodies.ts';

function upload(headers: Record<string, string> = { 'content-length': '100000000' }): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  Object.assign(request.headers, headers);
  return request.on('error', () => {});
}

test('uploads that one wide network begins and abandons do not fill the memory: other networks can still upload', () => {
  const bodies = waitingBodies();
  const hold = (address: string) => bodies.hold(upload(), address);
  const releases = Array.from({ length: 256 }, () => hold('192.0.2.1'));
  assert.throws(() => hold('192.0.2.77'), { messageName: 'bodiesBusy' }, 'also from another address of the wide network');
  hold('198.51.100.1');
  releases[0]?.();
  hold('192.0.2.1');
});

test('when all memory is used, a request of a new wide network closes one request of a wide network that holds the most', () => {
  const bodies = waitingBodies();
  const requestsByNetwork = [1, 2, 3, 4].map((number) => {
    const requests = Array.from({ length: 256 }, () => upload());
    for (const request of requests) bodies.hold(request, `10.0.${number}.1`);
    return requests;
  });
  bodies.hold(upload(), '10.0.5.1');
  assert.equal(requestsByNetwork.flat().filter(({ destroyed }) => destroyed).length, 1);
});

test('requests without a body are not counted, so any number of them can wait', () => {
  const bodies = waitingBodies();
  for (let number = 0; number < 10_000; number += 1) bodies.hold(upload(number % 2 === 0 ? {} : { 'content-length': '0' }), '192.0.2.1');
});
