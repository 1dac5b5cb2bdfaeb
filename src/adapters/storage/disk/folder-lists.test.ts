import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IdleThread } from '#adapters/os/idle-thread.ts';
import { parseItemPath } from '#core/item-path.ts';
import { FolderLists } from './folder-lists.ts';
import { ThreadBudget, ThreadPool } from './thread-pool.ts';

interface Message {
  readonly command: string;
}
interface Owner {
  receive(response: { value: unknown }): void;
}

/** A fake thread that answers when the test calls `answer`. */
class FakeThread implements IdleThread {
  readonly commands: string[] = [];
  readonly #owner: Owner;

  constructor(owner: Owner) {
    this.#owner = owner;
  }
  post(message: unknown): void {
    this.commands.push((message as Message).command);
  }
  answer(value: unknown): void {
    this.#owner.receive({ value });
  }
  startIdleTimer(): void {}
  async [Symbol.asyncDispose](): Promise<void> {}
}

/** Returns a function that opens fake threads, and the threads that it has opened. */
function fakeThreads() {
  const threads: FakeThread[] = [];
  const openThread = (owner: Owner) => {
    const thread = new FakeThread(owner);
    threads.push(thread);
    return thread;
  };
  return { threads, openThread };
}

const settings = { responseTimeout: 20_000 };
const folder = parseItemPath('/folder') ?? assert.fail();
const emptyList = { entries: [], isOpen: false };
const entry = { name: 'a.txt', folder: false, size: 1, modified: 0, etag: '"e"' };

async function waitUntil(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}

test('a folder is closed by the thread that has opened it, even if another thread is free', async () => {
  const { threads, openThread } = fakeThreads();
  await using pool = new ThreadPool({ openThread, budget: new ThreadBudget(1), settings });
  const lookups = pool.addLane({ concurrency: 1 });
  const lists = new FolderLists({ lists: pool.addLane({ concurrency: 1, oneThread: true }) });
  const lookup = lookups.run('close', [0]);
  threads[0]?.answer(null);
  await lookup;
  const blockedLookup = lookups.run('close', [1]);
  const listing = lists.list(folder, undefined);
  await waitUntil(() => threads[1]?.commands.length === 1);
  threads[1]?.answer({ entries: [entry], isOpen: true });
  const iterator = (await listing)[Symbol.asyncIterator]();
  assert.deepEqual((await iterator.next()).value, [entry]);
  const read = iterator.next();
  await waitUntil(() => threads[1]?.commands.length === 2);
  threads[0]?.answer(null);
  await blockedLookup;
  const start = performance.now();
  while (performance.now() - start < 5); // uses up the time for sending commands in this iteration of the event loop (`maxSendTime`)
  threads[1]?.answer([]);
  await read;
  await waitUntil(() => threads.some(({ commands }) => commands.includes('closeList')));
  assert.deepEqual(threads[1]?.commands, ['openList', 'nextBatch', 'closeList']);
});

test('a small folder is listed with one command', async () => {
  const { threads, openThread } = fakeThreads();
  await using pool = new ThreadPool({ openThread, budget: new ThreadBudget(0), settings });
  const lists = new FolderLists({ lists: pool.addLane({ concurrency: 1, oneThread: true }) });
  const listing = lists.list(folder, undefined);
  await waitUntil(() => threads[0]?.commands.length === 1);
  threads[0]?.answer({ entries: [entry], isOpen: false });
  assert.deepEqual(await Array.fromAsync(await listing), [[entry]]);
  assert.deepEqual(threads[0]?.commands, ['openList']);
});

test('a client that lists hundreds of folders does not delay the list of another client', async () => {
  const { threads, openThread } = fakeThreads();
  await using pool = new ThreadPool({ openThread, budget: new ThreadBudget(0), settings });
  const lists = new FolderLists({ lists: pool.addLane({ concurrency: 1, oneThread: true }) });
  const listedClients = new Set<string>();
  const list = (client: string) => lists.list(folder, client).then(() => listedClients.add(client));
  const all = Array.from({ length: 300 }, () => list('203.0.113.1'));
  all.push(list('198.51.100.1'));
  await waitUntil(() => {
    threads[0]?.answer(emptyList);
    return listedClients.has('198.51.100.1');
  });
  const sentCount = threads[0]?.commands.length ?? 0;
  assert.ok(sentCount <= 10, `the other client waited for ${sentCount} commands`);
  await waitUntil(() => {
    threads[0]?.answer(emptyList);
    return threads[0]?.commands.length === all.length;
  });
  threads[0]?.answer(emptyList);
  await Promise.all(all);
});
