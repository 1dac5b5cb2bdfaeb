import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ListingTurns } from '#features/visits/files/listing-turns.ts';
import { startWithBlockedMethod } from '../parts/intercepted-postern.ts';
import { until } from '../ports/until.ts';
import { adminKey, type TestPostern, type TestResponse } from '../start.ts';
import { createShare } from './visiting.ts';

const list = (postern: TestPostern, base: string, startIndex: number, signal?: AbortSignal) =>
  postern.visit(`${base}/list?startIndex=${startIndex}`, signal ? { signal } : {});

/** Returns the number of waiting pages from /metrics. */
async function waitingPages(postern: TestPostern): Promise<number> {
  const { body } = await postern.visit('/metrics', { headers: { authorization: `Bearer ${adminKey}` } });
  return Number(/postern_queue_length\{queue="folders"\} (\d+)/.exec(String(body))?.[1]);
}

test('a waiting listing ends as soon as its client disconnects', async () => {
  const turns = new ListingTurns();
  const never = new Promise<never>(() => {});
  const query = { sort: 'name', order: 'asc', searchWord: null, startIndex: 0, pageSize: 1 } as const;
  const request = (path: string, clientGone: AbortSignal) =>
    turns.page({ viewId: 'link', address: '192.0.2.1', locationId: 1, path, query, clientGone, responseEnd: never }, () => never);
  const connectedSignal = new AbortController().signal;
  for (const path of ['a', 'b', 'c', 'd']) void request(path, connectedSignal);
  const disconnect = new AbortController();
  const waitingPage = request('e', disconnect.signal);
  disconnect.abort();
  await assert.rejects(waitingPage, (cause) => cause === disconnect.signal.reason);
});

test('at most three pages of one link are read at once, so that another link at the location need not wait for them', async () => {
  const turns = new ListingTurns();
  const query = { sort: 'name', order: 'asc', searchWord: null, startIndex: 0, pageSize: 1 } as const;
  const reads: string[] = [];
  const request = (viewId: string, path: string) => {
    const visitor = { viewId, address: '192.0.2.1', locationId: 1, path, query, clientGone: new AbortController().signal };
    void turns.page({ ...visitor, responseEnd: new Promise<never>(() => {}) }, () => {
      reads.push(`${viewId} ${path}`);
      return new Promise<never>(() => {});
    });
  };
  for (const path of ['a', 'a', 'b', 'c', 'd']) request('greedy', path);
  request('other', 'e');
  await new Promise(setImmediate);
  assert.deepEqual(reads, ['greedy a', 'greedy b', 'greedy c', 'other e']);
});

test('reads for disconnected clients count toward the limit of their link, so that another link at the location need not wait', async () => {
  const turns = new ListingTurns();
  const query = { sort: 'name', order: 'asc', searchWord: null, startIndex: 0, pageSize: 1 } as const;
  const reads: string[] = [];
  const request = (viewId: string, path: string, clientGone: AbortSignal) => {
    const visitor = { viewId, address: '192.0.2.1', locationId: 1, path, query, clientGone };
    const read = () => {
      reads.push(`${viewId} ${path}`);
      return new Promise<never>(() => {});
    };
    turns.page({ ...visitor, responseEnd: new Promise<never>(() => {}) }, read).catch(() => {});
  };
  for (const path of ['a', 'b', 'c', 'd', 'e', 'f']) {
    const disconnect = new AbortController();
    request('greedy', path, disconnect.signal);
    await new Promise(setImmediate);
    disconnect.abort();
  }
  request('other', 'g', new AbortController().signal);
  await new Promise(setImmediate);
  assert.deepEqual(reads, ['greedy a', 'greedy b', 'greedy c', 'other g']);
});

/** Requests a page of a large folder. @param startIndex of the first entry of the page @param read called to read the page */
function requestPage(turns: ListingTurns, address: string, startIndex: number, read: () => Promise<null>): Promise<unknown> {
  const query = { sort: 'name', order: 'asc', searchWord: null, startIndex, pageSize: 1 } as const;
  const visitor = { viewId: 'link', address, locationId: 1, path: 'large', query, clientGone: new AbortController().signal };
  return turns.page({ ...visitor, responseEnd: new Promise<never>(() => {}) }, read);
}

test('if a hundred addresses of a wide network request pages of a folder, a page for another network waits for at most two pages', async () => {
  const turns = new ListingTurns();
  const reads: string[] = [];
  const ends: (() => void)[] = [];
  const request = (address: string, startIndex: number) =>
    void requestPage(turns, address, startIndex, () => {
      reads.push(address);
      return new Promise((resolve) => ends.push(() => resolve(null)));
    });
  for (let number = 0; number < 100; number += 1) request(`203.0.113.${number}`, number);
  request('198.51.100.1', 200);
  for (let number = 0; number < 2; number += 1) {
    ends.shift()?.();
    await new Promise(setImmediate);
  }
  assert.ok(reads.includes('198.51.100.1'), String(reads));
});

test('a page of a folder does not wait while another network reads a page of the same folder', async () => {
  const turns = new ListingTurns();
  const reads: string[] = [];
  const request = (address: string, startIndex: number) =>
    void requestPage(turns, address, startIndex, () => {
      reads.push(address);
      return new Promise<never>(() => {});
    });
  for (const number of [0, 1, 2]) request('203.0.113.1', number);
  request('198.51.100.1', 3);
  await new Promise(setImmediate);
  assert.deepEqual(reads, ['203.0.113.1', '198.51.100.1']);
});

test('when too many requests wait at a link, the newest one of the wide network with the most requests is refused', async () => {
  const turns = new ListingTurns();
  const refusals: string[] = [];
  const request = (address: string, startIndex: number) => {
    const page = requestPage(turns, address, startIndex, () => new Promise<never>(() => {}));
    page.catch(({ messageName }: { messageName: string }) => refusals.push(`${address} ${messageName}`));
  };
  const crowd = Array.from({ length: 8 }, (_, number) => `10.0.${number}.1`); // with 32 requests each
  for (let number = 0; number < 256; number += 1) request(crowd[number % 8] ?? '', number);
  await new Promise(setImmediate);
  assert.deepEqual(refusals, []);
  request('192.0.2.1', 256);
  await new Promise(setImmediate);
  assert.deepEqual(refusals, ['10.0.0.1 listingBusy']);
});

test('waiting listings of disconnected clients are not read and do not delay other visitors', { timeout: 10_000 }, async (t) => {
  const { postern, calls: pages, release } = await startWithBlockedMethod(t, 'storage.page');
  const [greedy, stranger] = [await createShare(postern), await createShare(postern)];
  const disconnect = new AbortController();
  const cancelledRequests = Array.from({ length: 20 }, (_, index) =>
    list(postern, greedy.base, index, disconnect.signal).catch(() => 'left'),
  );
  await until(async () => (await waitingPages(postern)) === 19);
  disconnect.abort();
  await Promise.all(cancelledRequests);
  await until(async () => (await waitingPages(postern)) === 0);
  const answer = list(postern, stranger.base, 99);
  release();
  assert.equal((await answer).status, 200);
  assert.equal(pages(), 2);
});

test('waiting requests for the same page are answered by one read of the folder', { timeout: 10_000 }, async (t) => {
  const { postern, calls: pages, release } = await startWithBlockedMethod(t, 'storage.page');
  const { base } = await createShare(postern);
  const first = list(postern, base, 0);
  await until(() => pages() === 1);
  const samePageRequests = Array.from({ length: 10 }, () => list(postern, base, 2));
  const { base: other } = await createShare(postern); // the requests above are waiting by now
  release();
  for (const { status } of await Promise.all([first, ...samePageRequests, list(postern, other, 0)])) assert.equal(status, 200);
  assert.ok(pages() <= 3, `${pages()} reads`);
});

test('a visitor with too many waiting pages gets 503 with Retry-After', { timeout: 10_000 }, async (t) => {
  const { postern, calls: pages, release } = await startWithBlockedMethod(t, 'storage.page');
  const { base } = await createShare(postern);
  const refusals: TestResponse[] = [];
  const answers = Array.from({ length: 60 }, async (_, index) => {
    const answer = await list(postern, base, index);
    if (answer.status === 503) refusals.push(answer);
    return answer.status;
  });
  await until(() => refusals.length === 28); // 1 is being read and 31 wait
  assert.equal(refusals[0]?.body.code, 'listingBusy');
  assert.ok(Number(refusals[0]?.headers.get('retry-after')) > 0);
  const { base: other } = await createShare(postern);
  const stranger = list(postern, other, 99); // a page that no other request waits for
  release();
  assert.equal((await stranger).status, 200);
  assert.equal((await Promise.all(answers)).filter((status) => status === 200).length, 32);
  assert.equal(pages(), 33);
});
