import type { ChangeContext, PendingFileChange } from '#ports/storage.ts';
import { ItemExists, ItemNotFound, StorageUnavailable } from '#ports/storage-errors.ts';
import type { ChangeEvidence } from './change-evidence.ts';
import type { ItemMoves } from './item-moves.ts';
import { isVersion } from './marker.ts';

/** Creates folders, and renames and removes files and folders, each with one move. */
export class ItemChanges {
  readonly #evidence: ChangeEvidence;
  readonly #moves: ItemMoves;

  constructor(evidence: ChangeEvidence, moves: ItemMoves) {
    this.#evidence = evidence;
    this.#moves = moves;
  }

  /** @throws ItemExists, ItemNotFound (no such parent), ItemBusy, PathTooLong, StorageFull, ChangeImpossible */
  async createFolder(parent: readonly string[], name: string, { token, confirm, pendingTokens }: ChangeContext): Promise<void> {
    await this.#checkParent(parent);
    await this.#checkFree([...parent, name], pendingTokens);
    const from = this.#evidence.stagedPath(token);
    await this.#evidence.write(() => this.#evidence.server.createFolder(from));
    const entry = { name, folder: true, size: 0, modified: null, etag: '' };
    await this.#moves.run({ token, from, to: [...parent, name], entry, confirm });
  }

  /** @throws ItemNotFound, ItemExists, ItemBusy, PathTooLong, StorageFull, ChangeImpossible */
  async rename(parent: readonly string[], from: string, to: string, { token, confirm, pendingTokens }: ChangeContext): Promise<void> {
    const entry = await this.#findExisting(parent, from);
    await this.#checkFree([...parent, to], pendingTokens);
    await this.#moves.run({ token, from: [...parent, from], to: [...parent, to], entry, confirm });
  }

  /**
   * Moves an item into the staging area, where `clearEvidence` or the sweep deletes it.
   * @throws ItemNotFound, ItemBusy, StorageFull, ChangeImpossible
   */
  async remove(parent: readonly string[], name: string, { token, confirm }: Omit<ChangeContext, 'pendingTokens'>): Promise<void> {
    const entry = await this.#findExisting(parent, name);
    const wasSentOnce = await this.#moves.run({ token, from: [...parent, name], to: this.#evidence.removedPath(token), entry, confirm });
    if (!wasSentOnce) this.#evidence.leaveToSweep(token);
  }

  /** @returns the name after the change, or the removed name; null: the change did not take place */
  async recover({ action, parent, name, token }: PendingFileChange): Promise<string | null> {
    if (action === 'delete') return this.#recoverRemoval(parent, name, token);
    const source = action === 'rename' ? [...parent, name] : this.#evidence.stagedPath(token);
    return this.#moves.recover(token, source, parent, action !== 'rename');
  }

  /** @throws StorageUnavailable while the server may still be moving the item */
  async #recoverRemoval(parent: readonly string[], name: string, token: string): Promise<string | null> {
    const marker = await this.#evidence.markerOf(token);
    const removedItem = await this.#evidence.find(this.#evidence.removedPath(token));
    if (!marker && !removedItem) return null;
    const rest = await this.#evidence.find([...parent, name]);
    const isItem = marker !== null && rest !== null && isVersion(marker.item, rest);
    const isOldEnough = marker !== null && this.#evidence.isOldEnough(token, marker, this.#evidence.server.maxWorkTimes.move);
    if (!removedItem) {
      if (isItem && !isOldEnough) throw new StorageUnavailable('the server may still be moving the item');
      return null;
    }
    if (!isOldEnough) this.#evidence.leaveToSweep(token);
    if (!isItem || this.#evidence.server.movesAtOnce) return name; // the name is free, or belongs to another item
    if (!isOldEnough) throw new StorageUnavailable('the server may still be moving the item');
    // The server has moved a part of a folder, or copied a file; or somebody has created another item. Whatever it is, it stays: nobody can
    // tell whether it holds newer files.
    return (await this.#evidence.isOlderThanMarker(token, [...parent, name], rest)) ? null : name;
  }

  async #findExisting(parent: readonly string[], name: string) {
    await this.#checkParent(parent);
    const entry = await this.#evidence.find([...parent, name]);
    if (!entry) throw new ItemNotFound('there is no such item');
    return entry;
  }

  async #checkParent(parent: readonly string[]): Promise<void> {
    if (parent.length > 0 && !(await this.#evidence.find(parent))?.folder) throw new ItemNotFound('there is no such folder');
  }

  /** @param pendingTokens of changes to the same name: if this name is free, none of these changes has taken place */
  async #checkFree(path: readonly string[], pendingTokens: readonly string[]): Promise<void> {
    if (await this.#evidence.find(path)) throw new ItemExists('the name is taken');
    for (const token of pendingTokens) await this.#evidence.unmark(token);
  }
}
