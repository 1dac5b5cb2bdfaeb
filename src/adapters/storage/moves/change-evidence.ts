import type { FindTokensInUse } from '#ports/storage.ts';
import { StorageUnavailable } from '#ports/storage-errors.ts';
import type { ItemServer, ServerEntry } from './item-server.ts';
import { type Marker, parseMarker } from './marker.ts';

/** Folder of the evidence of changes, within the folder of the location. */
const stagingFolder = '.postern';
/** Suffixes of the names of evidence. Some servers refuse some extensions, or do not send files with unknown ones; all accept `.txt`. */
const suffixes = { staged: '-data.txt', marker: '-begun.txt', removed: '-removed' } as const;
/** Suffix added to the path of a staged file. A server that replaces a file in steps keeps the old file at this path meanwhile. */
export const suffixOfReplaced = '.old.txt';
const formerRest = '-rest'; // suffix of names that earlier versions wrote
/**
 * Maximum of names in one sweep, and of characters in a token: a server could list long names without end. The next sweep starts anew, so
 * this is twice the number of unfinished uploads that a location can have.
 */
const [maxSwept, maxToken] = [10_000, 64];
const tokenOf = (name: string) => name.replace(/-(data\.txt|data\.txt\.old\.txt|begun\.txt|removed|rest)$/, '');

/** What a sweep finds of one change. */
interface FoundEvidence {
  readonly names: Set<string>;
  /** When its newest file was written; ms since the epoch; null: unknown. */
  written: number | null;
}

/** The evidence of changes at a server. */
export class ChangeEvidence {
  readonly server: ItemServer;
  readonly now: () => number;
  #preparation: Promise<void> | null = null;
  /** When this process first saw the evidence of each change, by token: times in the evidence may be missing or wrong. */
  readonly #firstSeen = new Map<string, number>();
  /** Tokens of the changes whose evidence only the sweep deletes. */
  readonly #tokensForSweep = new Set<string>();

  /** @param now ms since the epoch */
  constructor(server: ItemServer, now: () => number) {
    this.server = server;
    this.now = now;
  }

  readonly folder: readonly string[] = [stagingFolder];
  /** The path of a file or folder before it is put in place. */
  stagedPath = (token: string): readonly string[] => [stagingFolder, token + suffixes.staged];
  /** The path of an item that was removed. */
  removedPath = (token: string): readonly string[] => [stagingFolder, token + suffixes.removed];
  readonly #replacedPath = (token: string): readonly string[] => [stagingFolder, token + suffixes.staged + suffixOfReplaced];
  readonly #marker = (token: string): readonly string[] => [stagingFolder, token + suffixes.marker];

  find(path: readonly string[]): Promise<ServerEntry | null> {
    return this.server.find(path);
  }

  list(path: readonly string[]): AsyncIterable<readonly ServerEntry[]> {
    return this.server.list(path);
  }

  /**
   * Runs a request that writes into the staging folder. Creates the folder first, and again if somebody has deleted it.
   * @param write returns false if there is no such folder
   * @throws StorageUnusable if the folder cannot be created; StorageUnavailable if `write` finds no folder again after it was created
   */
  async write(write: () => Promise<boolean>): Promise<void> {
    await this.prepare();
    if (await write()) return;
    this.#preparation = null;
    await this.prepare();
    if (!(await write())) throw new StorageUnavailable('there is no such folder');
  }

  /** Records that a move begins. */
  async mark(token: string, marker: Marker): Promise<void> {
    await this.write(() => this.server.writeText(this.#marker(token), JSON.stringify(marker)));
  }

  /** Returns the marker of a change; null: its move has not begun. */
  async markerOf(token: string): Promise<Marker | null> {
    const text = await this.server.readText(this.#marker(token));
    // An empty marker was created but not written, so the move was not requested yet.
    return text === null || text === '' ? null : parseMarker(text);
  }

  /**
   * Returns whether enough time has passed since a marker was written, or since this process first saw it: the clock of the writer may
   * have been wrong.
   * @param time ms that must have passed
   */
  isOldEnough(token: string, { at }: Marker, time: number): boolean {
    const firstSeen = this.#firstSeen.get(token) ?? this.now();
    this.#firstSeen.set(token, firstSeen);
    const age = this.now() - at;
    return (age >= 0 && age > time) || this.now() - firstSeen > time;
  }

  /** Deletes the marker of a change: nothing was moved. */
  unmark(token: string): Promise<void> {
    return this.server.delete(this.#marker(token));
  }

  /**
   * Returns whether an item was probably there before the marker of a change, by the clock of the server. A folder must contain something,
   * and nothing newer: its own time changes when its items are moved.
   */
  async isOlderThanMarker(token: string, path: readonly string[], item: ServerEntry): Promise<boolean> {
    const marker = await this.find(this.#marker(token));
    const isOlder = ({ modified }: Pick<ServerEntry, 'modified'>) =>
      modified !== null && marker?.modified != null && modified <= marker.modified;
    if (!item.folder) return isOlder(item);
    let isEmpty = true;
    for await (const entries of this.list(path)) {
      if (!entries.every(isOlder)) return false;
      isEmpty &&= entries.length === 0;
    }
    return !isEmpty;
  }

  /**
   * Leaves the evidence of a removal to the sweep. A request that arrives late then fails, because its new name is taken. Otherwise, it
   * could move a later item with the same name.
   */
  leaveToSweep(token: string): void {
    this.#tokensForSweep.add(token);
  }

  /**
   * Deletes the evidence of a change, unless `leaveToSweep` was called.
   * @throws the first error, after all was tried
   */
  async clear(token: string): Promise<void> {
    if (this.#tokensForSweep.has(token)) return;
    const results = await Promise.allSettled(
      [this.stagedPath(token), this.#replacedPath(token), this.removedPath(token), this.#marker(token)].map((path) =>
        this.server.delete(path),
      ),
    );
    for (const result of results) if (result.status === 'rejected') throw result.reason;
  }

  /**
   * Makes sure that a replacement that has begun does not take place any more: without the staged file, no request can move it.
   * @returns false if no replacement has begun
   */
  async giveUpReplacement(token: string): Promise<boolean> {
    const marker = await this.markerOf(token);
    if (!marker || marker.replaced === null) return false;
    if (!marker.givenUp) await this.mark(token, { ...marker, givenUp: true }); // first: the next steps may fail
    await this.server.delete(this.stagedPath(token));
    await this.clear(token);
    return true;
  }

  /** Deletes the evidence of changes that are not pending. @param minAge ms: younger evidence may belong to another installation */
  async sweep(findTokensInUse: FindTokensInUse, minAge: number, signal?: AbortSignal): Promise<void> {
    const { byToken, isComplete } = await this.#list(signal);
    const tokensInUse = new Set(await findTokensInUse([...byToken.keys()]));
    const results: PromiseSettledResult<void>[] = [];
    if (isComplete) for (const token of this.#tokensForSweep) if (!byToken.has(token)) this.#tokensForSweep.delete(token);
    for (const token of this.#firstSeen.keys()) if (!byToken.has(token)) this.#firstSeen.delete(token);
    for (const [token, { names, written }] of byToken) {
      signal?.throwIfAborted();
      if (tokensInUse.has(token)) continue;
      const firstSeen = this.#firstSeen.get(token) ?? this.now();
      this.#firstSeen.set(token, firstSeen);
      const since = Math.min(written ?? firstSeen, firstSeen); // a time in the future comes from a wrong clock
      if (this.now() - since > minAge)
        results.push(...(await Promise.allSettled([...names].map((name) => this.server.delete([stagingFolder, name])))));
    }
    for (const result of results) if (result.status === 'rejected') throw result.reason; // after all were tried
  }

  /** Returns the evidence by token. `isComplete`: false if there is more evidence than one sweep reads. */
  async #list(signal?: AbortSignal): Promise<{ readonly byToken: ReadonlyMap<string, FoundEvidence>; readonly isComplete: boolean }> {
    const byToken = new Map<string, FoundEvidence>();
    let count = 0;
    for await (const entries of this.list([stagingFolder])) {
      signal?.throwIfAborted();
      for (const { name, modified } of entries) {
        count += 1;
        if (count > maxSwept) return { byToken, isComplete: false };
        const token = tokenOf(name);
        if (token.length > maxToken) continue; // not ours
        const evidence = byToken.get(token) ?? { names: new Set(), written: null };
        byToken.set(token, evidence);
        evidence.names.add(name);
        // A removed item keeps its old time.
        if (modified !== null && !name.endsWith(suffixes.removed) && !name.endsWith(formerRest))
          evidence.written = Math.max(modified, evidence.written ?? 0);
      }
    }
    return { byToken, isComplete: true };
  }

  /** Creates the staging folder if it is missing. @throws StorageUnusable */
  prepare(): Promise<void> {
    this.#preparation ??= this.server.createStagingFolder(this.folder).catch((cause: unknown) => {
      this.#preparation = null;
      throw cause;
    });
    return this.#preparation;
  }
}
