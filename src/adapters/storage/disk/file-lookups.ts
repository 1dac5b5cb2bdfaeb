import type { DatedEntry } from '#core/listing.ts';
import { errorOf } from './disk-errors.ts';
import type { FolderThreads } from './folder-threads.ts';
import type { ReadRequest, ReadResponse } from './read-file.ts';
import type { SmallFiles } from './small-files.ts';

/** A file that was found: with its content if it is small, otherwise with an open descriptor. */
export type FoundFile =
  | { readonly entry: DatedEntry; readonly content: Uint8Array; readonly descriptor?: never }
  | { readonly entry: DatedEntry; readonly descriptor: number; readonly content?: never };

/** A small file with its content. The cache holds such files. */
export type SmallFile = Extract<FoundFile, { content: Uint8Array }>;

/** A file with an open descriptor. */
export type OpenedFile = Exclude<FoundFile, SmallFile>;

type SuccessResponse = Exclude<ReadResponse, { kind: 'problem' }>;

/** Returns the file of a response. @param index which of the callers that share the request gets it */
function fileOf(response: SuccessResponse, cached: SmallFile | null, index: number): FoundFile | null {
  switch (response.kind) {
    case 'entry':
    case 'absent':
      return null;
    case 'notModified':
      return cached;
    case 'open':
      return { entry: response.entry, descriptor: response.descriptors[index] ?? -1 };
    case 'bytes':
      return { entry: response.entry, content: response.bytes };
  }
}

/** One request for all callers that need the same entry or file in one iteration of the event loop. */
interface SharedRequest {
  readonly request: Omit<ReadRequest, 'callers'>;
  /** The cached file whose validator the request contains. */
  readonly cached: SmallFile | null;
  /** One for each caller. */
  readonly resolvers: PromiseWithResolvers<ReadResponse>[];
}

/**
 * Finds files in a thread of the location: all system calls of a request cost one round trip to the thread. Requests of
 * one iteration of the event loop are sent together, and equal ones are sent once: waking the thread costs more than
 * the system calls of a request.
 */
export class FileLookups {
  readonly #threads: Pick<FolderThreads, 'lookups' | 'data'>;
  readonly #cache: SmallFiles<SmallFile>;
  #nextBatch = new Map<string, SharedRequest>();

  constructor(threads: Pick<FolderThreads, 'lookups' | 'data'>, cache: SmallFiles<SmallFile>) {
    this.#threads = threads;
    this.#cache = cache;
  }

  /** Returns the entry at a path; null: it is neither a file nor a folder, but a socket, for example. @throws ItemNotFound */
  async stat(segments: readonly string[]): Promise<DatedEntry | null> {
    const { response } = await this.#responseTo(this.#sharedRequest(segments.join('/'), true));
    return response.kind === 'entry' ? response.entry : null;
  }

  /** Opens a file. @returns null if the path leads to a folder @throws ItemNotFound if it leads to neither a file nor a folder */
  async open(segments: readonly string[]): Promise<FoundFile | null> {
    const path = segments.join('/');
    const sharedRequest = this.#sharedRequest(path, false);
    const { response, index } = await this.#responseTo(sharedRequest);
    const file = fileOf(response, sharedRequest.cached, index);
    if (response.kind === 'bytes' && response.isCacheable && file?.content) this.#cache.set(path, file, response.bytes.length);
    return file;
  }

  #sharedRequest(path: string, entryOnly: boolean): SharedRequest {
    const key = `${entryOnly ? 'entry' : 'file'} ${path}`;
    const existing = this.#nextBatch.get(key);
    if (existing) return existing;
    const cached = entryOnly ? null : this.#cache.get(path);
    const sharedRequest: SharedRequest = {
      request: { path, entryOnly, ...(cached ? { cachedEtag: cached.entry.etag } : {}) },
      cached,
      resolvers: [],
    };
    if (this.#nextBatch.size === 0) setImmediate(() => void this.#sendBatch());
    this.#nextBatch.set(key, sharedRequest);
    return sharedRequest;
  }

  async #sendBatch(): Promise<void> {
    const batch = [...this.#nextBatch.values()];
    this.#nextBatch = new Map();
    const requests = batch.map(({ request, resolvers }): ReadRequest => ({ ...request, callers: resolvers.length }));
    try {
      const responses = await this.#threads.lookups.run('readFiles', [requests], { onLateResult: (late) => this.#closeAll(late) });
      for (const [index, response] of responses.entries()) for (const { resolve } of batch[index]?.resolvers ?? []) resolve(response);
    } catch (cause) {
      for (const { reject } of batch.flatMap(({ resolvers }) => resolvers)) reject(cause);
    }
  }

  /** Closes the files of responses that came too late. Ignores errors, because nobody waits for this. */
  #closeAll(responses: readonly ReadResponse[]): void {
    for (const descriptor of responses.flatMap((response) => (response.kind === 'open' ? response.descriptors : [])))
      this.#threads.data.run('close', [descriptor], { always: true }).catch(() => {});
  }

  /**
   * Waits for the response to a request.
   * @returns the response, and the index of this caller among those that share the request
   */
  async #responseTo(sharedRequest: SharedRequest): Promise<{ response: SuccessResponse; index: number }> {
    const index = sharedRequest.resolvers.length;
    const resolvers = Promise.withResolvers<ReadResponse>();
    sharedRequest.resolvers.push(resolvers);
    const response = await resolvers.promise;
    if (response.kind === 'problem') throw errorOf(response.error);
    return { response, index };
  }
}
