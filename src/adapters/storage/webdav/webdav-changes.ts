import { type ChangeContext, ItemExists, ItemNotFound, type PendingFileChange } from '#ports/storage.ts';
import type { WebdavStaging } from './webdav-staging.ts';

type WebdavChangeContext = Pick<ChangeContext, 'token' | 'confirm'>;

/** Creates, renames and removes files and folders, each with one MOVE. */
export class WebdavChanges {
  readonly #staging: WebdavStaging;

  constructor(staging: WebdavStaging) {
    this.#staging = staging;
  }

  /** @throws ItemExists, ItemNotFound (no such parent) */
  async createFolder(parent: readonly string[], name: string, { token, confirm }: WebdavChangeContext): Promise<void> {
    await this.#checkParent(parent);
    await this.#checkFree([...parent, name]);
    await this.#staging.prepare();
    await this.#staging.createFolder(this.#staging.staged(token));
    await confirm?.();
    await this.#staging.move(this.#staging.staged(token), [...parent, name], { token, isFolder: true });
  }

  /** @throws ItemNotFound, ItemExists, ItemBusy */
  async rename(parent: readonly string[], from: string, to: string, { token, confirm }: WebdavChangeContext): Promise<void> {
    const { folder } = await this.#existing(parent, from);
    await this.#checkFree([...parent, to]);
    await confirm?.();
    await this.#staging.move([...parent, from], [...parent, to], { token, isFolder: folder });
  }

  /** Moves an item into the staging area, from which `clear` deletes it. @throws ItemNotFound, ItemBusy */
  async remove(parent: readonly string[], name: string, { token, confirm }: WebdavChangeContext): Promise<void> {
    const { folder } = await this.#existing(parent, name);
    await confirm?.();
    await this.#staging.move([...parent, name], this.#staging.removed(token), { token, isFolder: folder });
  }

  /** @returns as `Storage.recover` */
  async recover({ action, parent, name, token }: PendingFileChange): Promise<string | null> {
    if (action === 'delete') return (await this.#staging.find(this.#staging.removed(token))) ? name : null;
    const target = await this.#staging.nameOf(token);
    if (target === null) return null;
    const source = action === 'rename' ? [...parent, name] : this.#staging.staged(token);
    const isMoved = !(await this.#staging.find(source)) && (await this.#staging.find([...parent, target])) !== null;
    return isMoved ? target : null;
  }

  async #existing(parent: readonly string[], name: string) {
    await this.#checkParent(parent);
    const entry = await this.#staging.find([...parent, name]);
    if (!entry) throw new ItemNotFound('there is no such item');
    return entry;
  }

  async #checkParent(parent: readonly string[]): Promise<void> {
    if (parent.length > 0 && !(await this.#staging.find(parent))?.folder) throw new ItemNotFound('there is no such folder');
  }

  async #checkFree(path: readonly string[]): Promise<void> {
    if (await this.#staging.find(path)) throw new ItemExists('the name is taken');
  }
}
