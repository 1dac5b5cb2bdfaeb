import assert from 'node:assert/strict';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { unreadResponses } from './unread-responses.ts';

const newResponse = () => new ServerResponse(new IncomingMessage(new Socket()));

test('a network with one unread response gets one at a link whose memory another network holds, which loses its newest', () => {
  const unread = unreadResponses({ link: 4 << 20, network: 4 << 20, all: 8 << 20 });
  const slowReader = Array.from({ length: 4 }, newResponse);
  for (const response of slowReader) unread.hold({ link: 'a', network: 'slow' }, 1 << 20, response);
  assert.throws(() => unread.hold({ link: 'a', network: 'slow' }, 1 << 20, newResponse()), { messageName: 'searchBusy' });
  const other = newResponse();
  unread.hold({ link: 'a', network: 'other' }, 1 << 20, other);
  const isEnded = [...slowReader, other].map(({ destroyed }) => destroyed);
  assert.deepEqual(isEnded, [false, false, false, true, false]);
});

test('a network takes no memory from networks that hold as much as it would', () => {
  const unread = unreadResponses({ link: 2 << 20, network: 2 << 20, all: 8 << 20 });
  for (const network of ['one', 'two']) unread.hold({ link: 'a', network }, 1 << 20, newResponse());
  assert.throws(() => unread.hold({ link: 'a', network: 'three' }, 1 << 20, newResponse()), { messageName: 'searchBusy' });
});
