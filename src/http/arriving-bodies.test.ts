import assert from 'node:assert/strict';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { arrivingBodies } from './arriving-bodies.ts';

const mebibyte = 1 << 20;

function newRequest(bytes: number): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  request.headers['content-length'] = `${bytes}`;
  return request.on('error', () => {});
}

const responseTo = (request: IncomingMessage) => new ServerResponse(request);

test('when no memory is left, a body of a new wide network replaces the newest body of the wide network that uses the most memory', () => {
  const bodies = arrivingBodies(16_384);
  const expectFrom = (address: string) => {
    const request = newRequest(mebibyte);
    bodies.expect(request, responseTo(request), address, mebibyte);
    return request;
  };
  const requestsByNetwork = ['10.0.1.1', '10.0.2.1', '10.0.3.1'].map((address) => Array.from({ length: 32 }, () => expectFrom(address)));
  assert.throws(() => expectFrom('10.0.1.2'), { messageName: 'bodiesBusy' });
  assert.equal(expectFrom('10.0.4.1').destroyed, false);
  assert.equal(requestsByNetwork.flat().filter(({ destroyed }) => destroyed).length, 1);
  assert.equal(requestsByNetwork[0]?.at(-1)?.destroyed, true);
});

test('a body reserves at most as many bytes of memory as the body limit of its route, and none after it has arrived', () => {
  const bodies = arrivingBodies(16_384);
  const expectShort = (request: IncomingMessage) => bodies.expect(request, responseTo(request), '10.0.1.1', 1 << 14);
  for (let count = 0; count < 2048; count += 1) expectShort(newRequest(mebibyte));
  assert.throws(() => expectShort(newRequest(1 << 14)), { messageName: 'bodiesBusy' });
  const others = arrivingBodies(16_384);
  for (let count = 0; count < 100; count += 1) {
    const request = newRequest(mebibyte);
    others.expect(request, responseTo(request), '10.0.1.1', mebibyte);
    request.emit('end');
  }
});

test('behind a proxy, a wide network that does not send its short bodies cannot occupy all connections', () => {
  const bodies = arrivingBodies(4);
  const expectFrom = (address: string) => {
    const request = newRequest(2);
    bodies.expect(request, responseTo(request), address, mebibyte);
    return request;
  };
  const arrivingRequests = ['10.0.1.1', '10.0.1.1', '10.0.2.1'].map(expectFrom);
  assert.throws(() => expectFrom('10.0.1.2'), { messageName: 'bodiesBusy' });
  assert.equal(expectFrom('10.0.5.1').destroyed, false);
  assert.deepEqual(
    arrivingRequests.map(({ destroyed }) => destroyed),
    [false, true, false],
  );
  for (const request of arrivingRequests) request.emit('end');
  assert.equal(expectFrom('10.0.1.2').destroyed, false);
});
