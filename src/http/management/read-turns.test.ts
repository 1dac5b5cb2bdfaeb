import assert from 'node:assert/strict';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { test } from 'node:test';
import type { Caller } from '#features/operation.ts';
import { searchShares } from '#features/shares/search-shares.ts';
import { searchTurns } from '#features/turns/search-turns.ts';
import type { Ports } from '#ports/ports.ts';
import { readTurns } from './read-turns.ts';

test('a request that takes many turns adds only one listener to its response', async (t) => {
  const timer = setInterval(() => {}, 1000); // keeps the process alive during the pauses between turns
  t.after(() => clearInterval(timer));
  const unused: Pick<Ports, 'store' | 'clock'> = Object.create(null);
  const caller: Caller = Object.assign(Object.create(null), { tid: 1, kind: 'key', id: 1 });
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  const { inTurn, writeInTurn } = readTurns(unused, searchTurns(2))(searchShares, {}, caller, response);
  for (let turn = 0; turn < 20; turn += 1) {
    await inTurn(async () => null);
    await writeInTurn(() => '');
  }
  assert.equal(response.listenerCount('close'), 1);
});
