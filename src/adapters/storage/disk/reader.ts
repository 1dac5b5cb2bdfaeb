import fs from 'node:fs';
import { promisify } from 'node:util';
import { idleThread } from '#adapters/os/idle-thread.ts';
import type { Entry } from '#core/listing.ts';
import type { OpenFile } from '#ports/storage.ts';
import { errorWithCode, toStorageError } from './disk-errors.ts';
import type { StorageRoot } from './open-within-root.ts';
import type { ReadRequest, ReadResponse } from './read-thread.ts';
import type { SmallFiles } from './small-files.ts';

const read = promisify(fs.read);
const close = promisify(fs.close);

/**
 * Opens files in a separate thread for each location: all system calls of a request cost one hop to the thread, and a hung disk
 * blocks no other location. Requests of one turn of the event loop are sent together, and equal ones are sent once: waking the
 * thread costs more than its system calls.
 */
export interface DiskReader extends AsyncDisposable {
  /** Returns null if there is no file at the path. */
  open(path: readonly string[]): Promise<OpenFile | null>;
  /** Returns null if there is neither a file nor a folder at the path. */
  stat(path: readonly string[]): Promise<Entry | null>;
}

const memoryFile = (entry: Entry, whole: Uint8Array): OpenFile => ({
  entry,
  content: whole,
  async read(into, position) {
    const part = whole.subarray(position, position + into.length);
    into.set(part);
    return part.length;
  },
  close: async () => {},
});

const descriptorFile = (entry: Entry, descriptor: number): OpenFile => ({
  entry,
  async read(into, position) {
    try {
      return (await read(descriptor, into, 0, into.length, position)).bytesRead;
    } catch (cause) {
      throw toStorageError(cause);
    }
  },
  close: () => close(descriptor),
});

type SuccessResponse = Exclude<ReadResponse, { kind: 'problem' }>;

/** Returns the file of a response. @param index which of the callers that share the request gets it */
function fileOf(response: SuccessResponse, cached: OpenFile | null, index: number): OpenFile | null {
  switch (response.kind) {
    case 'entry':
    case 'absent':
      return null;
    case 'known':
      return cached;
    case 'open':
      return descriptorFile(response.entry, response.descriptors[index] ?? -1);
    case 'whole':
      return memoryFile(response.entry, response.bytes);
  }
}

/** One request for all callers that need the same in one turn of the event loop. */
interface SharedRequest {
  readonly request: Omit<ReadRequest, 'callers'>;
  /** The cached file whose validator the request contains. */
  readonly cached: OpenFile | null;
  /** One for each caller. */
  readonly resolvers: ((response: ReadResponse) => void)[];
}

/** Returns a reader. Its thread starts with the first request. */
export function fileReader(root: StorageRoot, cache: SmallFiles<OpenFile>): DiskReader {
  let nextBatch = new Map<string, SharedRequest>();
  let sentBatches: SharedRequest[][] = [];
  const thread = idleThread<readonly ReadResponse[]>(
    './read-thread',
    import.meta.url,
    {
      receive(responses) {
        const batch = sentBatches.shift() ?? [];
        if (sentBatches.length === 0) thread.startIdleTimer();
        for (const [index, response] of responses.entries()) for (const resolve of batch[index]?.resolvers ?? []) resolve(response);
      },
      rejectPending() {
        const resolvers = sentBatches.flat().flatMap((shared) => shared.resolvers);
        sentBatches = [];
        for (const resolve of resolvers) resolve({ kind: 'problem', code: 'EIO' });
      },
      isIdle: () => sentBatches.length === 0,
    },
    root,
  );
  function sendBatch(): void {
    const batch = [...nextBatch.values()];
    nextBatch = new Map();
    sentBatches.push(batch);
    thread.post(batch.map(({ request, resolvers }): ReadRequest => ({ ...request, callers: resolvers.length })));
  }
  function sharedRequest(path: string, entryOnly: boolean): SharedRequest {
    const key = `${entryOnly ? 'entry' : 'file'} ${path}`;
    const existing = nextBatch.get(key);
    if (existing) return existing;
    const cached = entryOnly ? null : cache.get(path);
    const shared: SharedRequest = {
      request: { path, entryOnly, ...(cached ? { cachedEtag: cached.entry.etag } : {}) },
      cached,
      resolvers: [],
    };
    if (nextBatch.size === 0) setImmediate(sendBatch);
    nextBatch.set(key, shared);
    return shared;
  }
  /**
   * Waits for the response to a request.
   * @returns the response, and the index of this caller among those that share the request
   * @throws the error of a system call in the thread
   */
  async function responseTo(shared: SharedRequest): Promise<{ response: SuccessResponse; index: number }> {
    const index = shared.resolvers.length;
    const response = await new Promise<ReadResponse>((resolve) => shared.resolvers.push(resolve));
    if (response.kind === 'problem') throw errorWithCode(response.code);
    return { response, index };
  }
  return {
    async stat(segments) {
      const { response } = await responseTo(sharedRequest(segments.join('/'), true));
      return response.kind === 'entry' ? response.entry : null;
    },
    async open(segments) {
      const path = segments.join('/');
      const shared = sharedRequest(path, false);
      const { response, index } = await responseTo(shared);
      const file = fileOf(response, shared.cached, index);
      if (response.kind === 'whole' && response.isCacheable && file) cache.set(path, file, response.bytes.length);
      return file;
    },
    [Symbol.asyncDispose]: () => thread[Symbol.asyncDispose](),
  };
}
