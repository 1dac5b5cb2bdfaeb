import type { Confirm } from '#ports/storage.ts';
import { ItemExists, ItemNotFound, OutcomeUnknown, StorageUnavailable } from '#ports/storage-errors.ts';
import type { ChangeEvidence } from './change-evidence.ts';
import type { ItemServer, MoveOutcome, ServerEntry } from './item-server.ts';
import { isVersion, type Marker, versionOf } from './marker.ts';

/** A move of an item to a name. */
export interface Move {
  readonly token: string;
  readonly from: readonly string[];
  readonly to: readonly string[];
  /** The item. Its `modified` is null for an uploaded file and a new folder: their time at the server is not known. */
  readonly entry: ServerEntry;
  /** The file that it replaces; absent: the name must be free. */
  readonly replaced?: ServerEntry;
  /** Awaited directly before each request that moves the item. */
  readonly confirm?: Confirm | undefined;
}

/**
 * The state of a move. unmoved: nothing has changed. targetGone: the file to replace is gone, and the item is still at its old name. gone:
 * no item is at either name. unclear: the item at the new name may be another one, or a part of the moved one.
 */
type State = 'moved' | 'unmoved' | 'targetGone' | 'gone' | 'unclear';

const unknownOutcome = (cause?: unknown) => new OutcomeUnknown('the server has not said whether it has moved the item', { cause });

/** Returns the state of a move from the entries at both names. If `replaced` in the marker is null, the new name was free. */
function stateOf({ item, replaced }: Pick<Marker, 'item' | 'replaced'>, source: ServerEntry | null, target: ServerEntry | null): State {
  if (!source && !target) return 'gone';
  if (!source) return target && isVersion(item, target) ? 'moved' : 'unclear';
  if (!target) return replaced === null ? 'unmoved' : 'targetGone';
  return replaced !== null && isVersion(replaced, target) ? 'unmoved' : 'unclear';
}

/** Returns the time in ms after which a server no longer works on the move that a marker describes. */
function maxWorkTimeOf({ maxWorkTimes: { move, newFile } }: ItemServer, { item, replaced }: Marker, isStaged: boolean): number {
  return !isStaged || item === 'folder' || replaced !== null ? move : Math.min(move, newFile(item.size));
}

/** Returns whether another program has taken the name, or the item, before the server got the request. */
const isByOther = (outcome: MoveOutcome, state: State) =>
  (outcome instanceof ItemExists && state === 'unclear') || (outcome instanceof ItemNotFound && state === 'gone');

/** Moves items, so that nothing is lost if the server fails in the middle, and finds out the state of a move. */
export class ItemMoves {
  readonly #evidence: ChangeEvidence;

  constructor(evidence: ChangeEvidence) {
    this.#evidence = evidence;
  }

  /**
   * Writes the marker of a move, then moves the item.
   * @returns true if the request was sent once; false if it was sent twice: the first request may still reach the server
   * @throws ItemExists, ItemNotFound, ItemBusy, PathTooLong, StorageFull, ChangeImpossible: nothing was moved; OutcomeUnknown
   */
  async run(move: Move): Promise<boolean> {
    const { token, to, entry, replaced } = move;
    const marker = {
      ...{ name: to.at(-1) ?? '', at: this.#evidence.now() },
      ...{ item: versionOf(entry), replaced: replaced ? versionOf(replaced) : null },
    };
    await this.#evidence.mark(token, marker);
    const outcome = await this.#send(move, replaced !== undefined);
    if (outcome === 'moved') return true;
    const state = await this.#findState(move, marker);
    // After an error, the size alone does not prove that the uploaded file is at its new name.
    const isProven = !(outcome instanceof Error) || entry.modified !== null;
    if (state === 'moved' && isProven) return true;
    // The connection was lost before the server got the request, or the server has deleted the file to replace, and the name must not
    // stay empty.
    const isRefused = outcome instanceof Error;
    if ((state === 'unmoved' && outcome === 'lost') || (state === 'targetGone' && (outcome === 'lost' || isRefused))) {
      await this.#complete(move, marker);
      return false;
    }
    const isOther = replaced === undefined && isByOther(outcome, state);
    if (!isRefused || (state !== 'unmoved' && !isOther)) throw unknownOutcome();
    await this.#evidence.unmark(token);
    throw outcome;
  }

  /**
   * Finds out whether a move took place, and completes a replacement that the server has begun.
   * @param isStaged whether the item comes from the staging area, from which nobody else takes it
   * @returns the new name of the item, or null if the move did not take place
   * @throws StorageUnavailable while the server may still be moving the item
   */
  async recover(token: string, from: readonly string[], parent: readonly string[], isStaged: boolean): Promise<string | null> {
    const marker = await this.#evidence.markerOf(token);
    if (!marker || marker.givenUp) return null;
    const to = [...parent, marker.name];
    const [source, target] = [await this.#evidence.find(from), await this.#evidence.find(to)];
    const state = stateOf(marker, source, target);
    if (state === 'moved' || (isStaged && !source)) return marker.name;
    if (!source) return null; // somebody else has renamed or deleted it
    if (!this.#evidence.isOldEnough(token, marker, maxWorkTimeOf(this.#evidence.server, marker, isStaged)))
      throw new StorageUnavailable('the server may still be moving the item');
    if (state === 'unclear' && !isStaged)
      return target && isVersion(marker.item, target) && !isVersion(marker.item, source) ? marker.name : null;
    const copied = state === 'unclear' ? await this.#copiedSize(marker, target, from, to) : 0;
    if (copied > 0 && copied === source.size) return marker.name;
    const isPartial = copied > 0 && marker.replaced !== null;
    if (!isStaged || !(isPartial || state === 'targetGone') || !(await this.#hasFolder(parent))) return null;
    // The file to replace is gone, or a part of the new one is in its place.
    await this.#complete({ token, from, to, entry: source }, marker, isPartial);
    return marker.name;
  }

  /** Returns how many of the first bytes of a staged file the server has copied to its new name; 0: none, or the file is another one. */
  async #copiedSize({ item }: Marker, target: ServerEntry | null, from: readonly string[], to: readonly string[]): Promise<number> {
    const { server } = this.#evidence;
    if (server.movesAtOnce || item === 'folder' || !target || target.folder || target.size > item.size) return 0;
    return (await server.isPart(to, target.size, from)) ? target.size : 0;
  }

  async #hasFolder(path: readonly string[]): Promise<boolean> {
    return path.length === 0 || (await this.#evidence.find(path))?.folder === true;
  }

  /** Sends a move again. @param overwrites whether a part of the item may be at its new name. @throws OutcomeUnknown */
  async #complete(move: Move, marker: Marker, overwrites = false): Promise<void> {
    if ((await this.#send(move, overwrites)) === 'moved' || (await this.#findState(move, marker)) === 'moved') return;
    throw unknownOutcome();
  }

  #send({ from, to, entry, confirm }: Move, overwrites: boolean): Promise<MoveOutcome> {
    return this.#evidence.server.move(from, to, { isFolder: entry.folder, overwrites, confirm });
  }

  /** @throws OutcomeUnknown if the server does not respond */
  async #findState({ from, to }: Move, marker: Marker): Promise<State> {
    try {
      return stateOf(marker, await this.#evidence.find(from), await this.#evidence.find(to));
    } catch (cause) {
      throw unknownOutcome(cause);
    }
  }
}
