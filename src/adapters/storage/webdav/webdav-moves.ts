import { serviceErrorOf } from '#adapters/storage/objects/service-errors.ts';
import {
  ChangeImpossible,
  ItemBusy,
  ItemExists,
  ItemNotFound,
  OutcomeUnknown,
  PathTooLong,
  StorageFull,
  StorageUnavailable,
} from '#ports/storage.ts';
import type { WebdavEntry } from './webdav-entries.ts';
import { isVersion, type Marker, versionOf, type WebdavEvidence } from './webdav-evidence.ts';

const moveTimeLimit = 600_000; // ms: a server may copy a folder
const settleTime = 660_000; // ms after which a server works on no move any more
/** The same for a file that was just stored, if its name was free: ms, and bytes that a slow server copies in one ms. */
const fileSettleTime = { start: 30_000, bytesPerMs: 1000 };
const partly = 207; // RFC 4918, 9.9.4: some items were not moved
/** Statuses with which a server says that it does not move an item. */
const refusals = [400, 403, 404, 405, 409, 412, 414, 415, 423, 507];

/** A move of an item to a name. */
export interface Move {
  readonly token: string;
  readonly from: readonly string[];
  readonly to: readonly string[];
  /** The item; without a time: a file that was just stored, or a new folder. */
  readonly entry: WebdavEntry;
  /** The file that it replaces; absent: the name must be free. */
  readonly replaced?: WebdavEntry;
  /** Awaited directly before each request that moves the item. */
  readonly confirm?: (() => Promise<void>) | undefined;
}

/** What has become of a move. unmoved: nothing has changed. lost: the file to replace is gone, and the item is not there yet. gone: so is the item. */
type State = 'moved' | 'unmoved' | 'lost' | 'gone' | 'unclear';

const isSuccess = (status: number | null) => status !== null && status < 300 && status !== partly;
const unknown = (cause?: unknown) => new OutcomeUnknown('the server has not said whether it has moved the item', { cause });

/** Returns the error for a status with which a move was refused. */
function refusalOf(status: number): Error {
  if (status === 412) return new ItemExists('the name is taken');
  if (status === 423) return new ItemBusy('another program has locked the item');
  if (status === 414) return new PathTooLong('the server refuses an address of this length');
  if (status === 507) return new StorageFull('the server has no space left');
  if (status === 404 || status === 409) return new ItemNotFound('the item or its folder no longer exists');
  return new ChangeImpossible('The server refuses this name');
}

/** Returns the state of a move from what is at both names. @param marker null for what was replaced: the name was free */
function stateOf({ item, replaced }: Pick<Marker, 'item' | 'replaced'>, source: WebdavEntry | null, target: WebdavEntry | null): State {
  if (!source && !target) return 'gone';
  if (!source) return target && isVersion(item, target) ? 'moved' : 'unclear';
  if (!target) return replaced === null ? 'unmoved' : 'lost';
  return replaced !== null && isVersion(replaced, target) ? 'unmoved' : 'unclear';
}

/** Returns the time in ms after which a server no longer works on the move of a marker. */
function settleTimeOf({ item, replaced }: Marker, isStaged: boolean): number {
  if (!isStaged || item === 'folder' || replaced !== null) return settleTime;
  return Math.min(settleTime, fileSettleTime.start + item.size / fileSettleTime.bytesPerMs);
}

/** Moves items, so that nothing is lost if the server fails in the middle, and finds out what has become of a move. */
export class WebdavMoves {
  readonly #evidence: WebdavEvidence;

  constructor(evidence: WebdavEvidence) {
    this.#evidence = evidence;
  }

  /**
   * Notes that a change begins, then moves an item.
   * @throws ItemExists, ItemNotFound, ItemBusy, PathTooLong, StorageFull, ChangeImpossible: nothing was moved; OutcomeUnknown
   */
  async run(move: Move): Promise<void> {
    const { token, to, entry, replaced } = move;
    const marker = {
      ...{ name: to.at(-1) ?? '', at: this.#evidence.now() },
      ...{ item: versionOf(entry), replaced: replaced ? versionOf(replaced) : null },
    };
    await this.#evidence.mark(token, marker);
    const status = await this.#send(move, replaced !== undefined);
    if (isSuccess(status)) return;
    const state = await this.#look(move, marker);
    if (state === 'moved') return;
    // The connection was lost before the server got the request, or the server has deleted the file that is replaced: the name must not stay empty.
    if ((state === 'unmoved' && status === null) || (state === 'lost' && (status === null || refusals.includes(status))))
      return this.#complete(move, marker);
    const isOther = replaced === undefined && ((status === 412 && state === 'unclear') || (status === 404 && state === 'gone')); // by another program
    if (status === null || !refusals.includes(status) || (state !== 'unmoved' && !isOther)) throw unknown();
    await this.#evidence.unmark(token);
    throw refusalOf(status);
  }

  /**
   * Finds out whether a move took place before a crash, and completes a replacement that the server has begun.
   * @param isStaged whether the item comes from the staging area, from which nobody else takes it
   * @returns the name that the item has got, or null
   * @throws StorageUnavailable while the server may still be moving the item
   */
  async recover(token: string, from: readonly string[], parent: readonly string[], isStaged: boolean): Promise<string | null> {
    const marker = await this.#evidence.markerOf(token);
    if (!marker) return null;
    const to = [...parent, marker.name];
    const [source, target] = [await this.#evidence.find(from), await this.#evidence.find(to)];
    const state = stateOf(marker, source, target);
    if (state === 'moved' || (isStaged && !source)) return marker.name;
    if (!source) return null; // somebody else has renamed or deleted it
    if (!this.#evidence.isSettled(token, marker, settleTimeOf(marker, isStaged)))
      throw new StorageUnavailable('the server may still be moving the item');
    if (!isStaged || state === 'unmoved') return null;
    if (state === 'unclear' && marker.replaced === null) return target && isVersion(marker.item, target) ? marker.name : null;
    // The file to replace is gone, or a part of the new one is in its place.
    await this.#complete({ token, from, to, entry: source }, marker, state === 'unclear');
    return marker.name;
  }

  /** Sends a move again. @param overwrites whether a part of the item may be at its new name. @throws OutcomeUnknown */
  async #complete(move: Move, marker: Marker, overwrites = false): Promise<void> {
    if (isSuccess(await this.#send(move, overwrites)) || (await this.#look(move, marker)) === 'moved') return;
    throw unknown();
  }

  /** @returns the status; null: the connection was lost */
  async #send({ from, to, entry, confirm }: Move, overwrites: boolean): Promise<number | null> {
    const { server } = this.#evidence;
    const request = { headers: { overwrite: overwrites ? 'T' : 'F' }, expected: refusals, timeLimit: moveTimeLimit, once: true };
    await confirm?.();
    try {
      return (await server.move(server.urlOf(from, entry.folder), server.urlOf(to, entry.folder), request)).status;
    } catch (cause) {
      if (!(cause instanceof StorageUnavailable)) throw cause;
      return serviceErrorOf(cause)?.status ?? null;
    }
  }

  /** @throws OutcomeUnknown if the server does not say */
  async #look({ from, to }: Move, marker: Marker): Promise<State> {
    try {
      return stateOf(marker, await this.#evidence.find(from), await this.#evidence.find(to));
    } catch (cause) {
      throw unknown(cause);
    }
  }
}
