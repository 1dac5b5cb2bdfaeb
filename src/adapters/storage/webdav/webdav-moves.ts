import { serviceErrorOf } from '#adapters/storage/objects/service-errors.ts';
import { ChangeImpossible, ItemBusy, ItemExists, ItemNotFound, OutcomeUnknown, PathTooLong, StorageUnavailable } from '#ports/storage.ts';
import type { WebdavEntry } from './webdav-entries.ts';
import { isItemOf, type Marker, type WebdavEvidence } from './webdav-evidence.ts';

const moveTimeLimit = 600_000; // ms: a server may copy a folder
const arrivalTime = 60_000; // ms in which a request reaches a server
const partly = 207; // RFC 4918, 9.9.4: some items were not moved
/** Statuses with which a server refuses a move. */
const refusals = [400, 403, 404, 405, 409, 412, 414, 415, 423];

/** A move of an item to a name. */
export interface Move {
  readonly token: string;
  readonly from: readonly string[];
  readonly to: readonly string[];
  /** The item. */
  readonly entry: WebdavEntry;
  /** Whether it may replace a file. */
  readonly overwrites?: boolean;
}

const isSuccess = (status: number | null) => status !== null && status < 300 && status !== partly;
const unknown = () => new OutcomeUnknown('the server has not said whether it has moved the item');

/** Returns the error for a status with which a move was refused. */
function refusalOf(status: number): Error {
  if (status === 412) return new ItemExists('the name is taken');
  if (status === 423) return new ItemBusy('another program has locked the item');
  if (status === 414) return new PathTooLong('the server refuses an address of this length');
  if (status === 404 || status === 409) return new ItemNotFound('the item or its folder no longer exists');
  return new ChangeImpossible('The server refuses this name');
}

/** Moves items, so that nothing is lost if the server fails in the middle, and finds out what has become of a move. */
export class WebdavMoves {
  readonly #evidence: WebdavEvidence;

  constructor(evidence: WebdavEvidence) {
    this.#evidence = evidence;
  }

  /**
   * Notes that a change begins, then moves an item.
   * @throws ItemExists, ItemNotFound, ItemBusy, PathTooLong, ChangeImpossible: nothing was moved; OutcomeUnknown
   */
  async run(move: Move): Promise<void> {
    const { token, to, entry, overwrites = false } = move;
    const item = entry.folder ? null : { size: entry.size, modified: entry.modified };
    await this.#evidence.mark(token, { name: to.at(-1) ?? '', overwrites, at: this.#evidence.now(), item });
    const status = await this.#send(move, overwrites);
    if (isSuccess(status)) return;
    const isRefused = status !== null && refusals.includes(status);
    // A server deletes the file that is replaced before it moves the other one: the name must not stay empty.
    const state = isRefused && !overwrites ? 'unmoved' : await this.#look(move);
    if (state === 'moved') return;
    if (state === 'lost' && (isRefused || status === null)) return this.#complete(move);
    if (state === 'unmoved' && status === null) return this.#complete(move);
    if (!isRefused) throw unknown();
    await this.#evidence.unmark(token);
    throw refusalOf(status);
  }

  /**
   * Finds out whether a move took place before a crash, and completes one that has deleted the file that it replaces.
   * @returns the name that the item has got, or null
   * @throws StorageUnavailable while the server may still be moving the item
   */
  async recover(token: string, from: readonly string[], parent: readonly string[]): Promise<string | null> {
    const marker = await this.#evidence.markerOf(token);
    if (!marker) return null;
    const to = [...parent, marker.name];
    const [source, target] = [await this.#evidence.find(from), await this.#evidence.find(to)];
    if (!source) return marker.name; // nobody else moves it
    const age = this.#evidence.now() - marker.at;
    // A part of a copy, or an item of somebody else; without a target, the request may not have arrived yet.
    if (age < (target && !marker.overwrites ? moveTimeLimit : arrivalTime))
      throw new StorageUnavailable('the server may still be moving the item');
    if (target || !marker.overwrites) return null;
    await this.#complete({ token, from, to, entry: source });
    return marker.name;
  }

  /** Sends the move again, to a name that is free now. @throws OutcomeUnknown */
  async #complete(move: Move): Promise<void> {
    if (isSuccess(await this.#send(move, false)) || (await this.#look(move)) === 'moved') return;
    throw unknown();
  }

  /** @returns the status; null: the connection was lost */
  async #send({ from, to, entry }: Move, overwrites: boolean): Promise<number | null> {
    const { server } = this.#evidence;
    const request = { headers: { overwrite: overwrites ? 'T' : 'F' }, expected: refusals, timeLimit: moveTimeLimit, once: true };
    try {
      return (await server.move(server.urlOf(from, entry.folder), server.urlOf(to, entry.folder), request)).status;
    } catch (cause) {
      if (!(cause instanceof OutcomeUnknown)) throw cause;
      return serviceErrorOf(cause)?.status ?? null;
    }
  }

  /** moved: only at its new name. unmoved: only at its old one, and what it replaces is there. lost: what it replaces is gone. unclear: at both. */
  async #look({ from, to, entry, overwrites = false }: Move): Promise<'moved' | 'unmoved' | 'lost' | 'unclear'> {
    const [source, target] = [await this.#evidence.find(from), await this.#evidence.find(to)];
    const marker: Marker = { name: '', overwrites, at: 0, item: entry.folder ? null : { size: entry.size, modified: null } };
    if (!source) return target && isItemOf(marker, target) ? 'moved' : 'unclear';
    if (!target) return overwrites ? 'lost' : 'unmoved';
    return 'unclear';
  }
}
