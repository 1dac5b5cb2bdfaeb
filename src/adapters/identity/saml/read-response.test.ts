import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readResponse } from './read-response.ts';

const input = { issuer: 'https://idp.example', certificates: [], entityId: 'https://sp.example', acsUrl: 'https://sp.example/acs', now: 0 };

test('a response of spaces and one other character is refused in a time proportional to its length', async () => {
  await assert.rejects(readResponse({ ...input, response: `${' '.repeat(262_000)}!` }), /is not base64/); // quadratic time would take a minute
});
