import assert from 'node:assert/strict';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import { unreadResponses } from './unread-responses.ts';

const newResponse = () => new ServerResponse(new IncomingMessage(new Socket()));

test('if one network holds all memory of a link, its newest response is aborted for the first response of another network', () => {
  const unread = unreadResponses({ link: 4 << 20, wideNetwork: 4 << 20, all: 8 << 20 });
  const slowReader = Array.from({ length: 4 }, newResponse);
  for (const response of slowReader) unread.hold({ link: 'a', wideNetwork: 'slow' }, 1 << 20, response);
  assert.throws(() => unread.hold({ link: 'a', wideNetwork: 'slow' }, 1 << 20, newResponse()), { messageName: 'searchBusy' });
  const other = newResponse();
  unread.hold({ link: 'a', wideNetwork: 'other' }, 1 << 20, other);
  const isEnded = [...slowReader, other].map(({ destroyed }) => destroyed);
  assert.deepEqual(isEnded, [false, false, false, true, false]);
});

test('no response is aborted for a network that would then hold as much as the others', () => {
  const unread = unreadResponses({ link: 2 << 20, wideNetwork: 2 << 20, all: 8 << 20 });
  for (const wideNetwork of ['one', 'two']) unread.hold({ link: 'a', wideNetwork }, 1 << 20, newResponse());
  assert.throws(() => unread.hold({ link: 'a', wideNetwork: 'three' }, 1 << 20, newResponse()), { messageName: 'searchBusy' });
});
