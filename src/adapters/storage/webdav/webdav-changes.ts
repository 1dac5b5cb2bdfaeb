import { type ChangeContext, ItemExists, ItemNotFound, type PendingFileChange, StorageUnavailable } from '#ports/storage.ts';
import type { WebdavEvidence } from './webdav-evidence.ts';
import type { WebdavMoves } from './webdav-moves.ts';

const removalTime = 600_000; // ms in which a server has moved a folder

/** Creates, renames and removes files and folders, each with one MOVE. */
export class WebdavChanges {
  readonly #evidence: WebdavEvidence;
  readonly #moves: WebdavMoves;

  constructor(evidence: WebdavEvidence, moves: WebdavMoves) {
    this.#evidence = evidence;
    this.#moves = moves;
  }

  /** @throws ItemExists, ItemNotFound (no such parent) */
  async createFolder(parent: readonly string[], name: string, { token, confirm, pendingTokens }: ChangeContext): Promise<void> {
    await this.#checkParent(parent);
    await this.#checkFree([...parent, name], pendingTokens);
    const { server } = this.#evidence;
    const [from, request] = [this.#evidence.staged(token), { expected: [404, 409], repeatable: true }];
    await this.#evidence.write(() => server.sendAndRead('MKCOL', server.urlOf(from, true), request));
    await confirm?.();
    const entry = { name, folder: true, size: 0, modified: null, etag: '', hasServerEtag: false };
    await this.#moves.run({ token, from, to: [...parent, name], entry });
  }

  /** @throws ItemNotFound, ItemExists, ItemBusy, PathTooLong, ChangeImpossible */
  async rename(parent: readonly string[], from: string, to: string, { token, confirm, pendingTokens }: ChangeContext): Promise<void> {
    const entry = await this.#existing(parent, from);
    await this.#checkFree([...parent, to], pendingTokens);
    await confirm?.();
    await this.#moves.run({ token, from: [...parent, from], to: [...parent, to], entry });
  }

  /** Moves an item into the staging area, where `clearEvidence` deletes it. @throws ItemNotFound, ItemBusy, ChangeImpossible */
  async remove(parent: readonly string[], name: string, { token, confirm }: Omit<ChangeContext, 'pendingTokens'>): Promise<void> {
    const entry = await this.#existing(parent, name);
    await confirm?.();
    await this.#moves.run({ token, from: [...parent, name], to: this.#evidence.removed(token), entry });
  }

  /** @returns as `Storage.recover` */
  async recover({ action, parent, name, token }: PendingFileChange): Promise<string | null> {
    if (action === 'delete') return this.#recoverRemoval(parent, name, token);
    const source = action === 'rename' ? [...parent, name] : this.#evidence.staged(token);
    return this.#moves.recover(token, source, parent);
  }

  /** Completes a removal of which a part is in the staging area. @throws StorageUnavailable while the server may still be moving the item */
  async #recoverRemoval(parent: readonly string[], name: string, token: string): Promise<string | null> {
    const marker = await this.#evidence.markerOf(token);
    const removed = await this.#evidence.find(this.#evidence.removed(token));
    if (!marker && !removed) return null;
    const rest = await this.#evidence.find([...parent, name]);
    if (!rest) return name;
    if (marker && this.#evidence.now() - marker.at < removalTime) throw new StorageUnavailable('the server may still be moving the item');
    if (!removed) return null;
    await this.#evidence.delete([...parent, name]);
    return name;
  }

  async #existing(parent: readonly string[], name: string) {
    await this.#checkParent(parent);
    const entry = await this.#evidence.find([...parent, name]);
    if (!entry) throw new ItemNotFound('there is no such item');
    return entry;
  }

  async #checkParent(parent: readonly string[]): Promise<void> {
    if (parent.length > 0 && !(await this.#evidence.find(parent))?.folder) throw new ItemNotFound('there is no such folder');
  }

  /** @param pendingTokens of changes to the same name: if it is free, none of them has taken place */
  async #checkFree(path: readonly string[], pendingTokens: readonly string[]): Promise<void> {
    if (await this.#evidence.find(path)) throw new ItemExists('the name is taken');
    for (const token of pendingTokens) await this.#evidence.unmark(token);
  }
}
