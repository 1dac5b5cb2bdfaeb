import { createHash } from 'node:crypto';
import type { MemoryReservation } from '#core/memory-budget.ts';
import type { Confirm, PendingFileChange } from '#ports/storage.ts';
import { ChangeImpossible, ItemBusy, ItemExists, ItemNotFound, StorageUnavailable } from '#ports/storage-errors.ts';
import { decisionBody, type ETagsByKey, memoryOfVersion, readDecision } from './decision.ts';
import { type LateRequests, maxWorkTime } from './late-requests.ts';
import { maxObjects, ObjectCopies, versionsOf } from './object-copies.ts';
import type { ObjectFolders } from './object-folders.ts';
import type { StoredObject } from './object-store.ts';

interface ObjectChangeContext {
  readonly token: string;
  readonly confirm?: Confirm | undefined;
}

/** Returns whether a key cannot be the path of a URL: clients resolve the segments `.` and `..`. */
const hasDotSegment = (key: string) => /(?:^|\/)\.\.?(?:\/|$)/.test(key);

const decisionName = (token: string) => `${token}.decided`;

/** Creates folders, and renames and deletes items object by object. Evidence in the staging area shows how far a rename or deletion got. */
export class ObjectChanges {
  readonly #folders: ObjectFolders;
  readonly #copies: ObjectCopies;
  readonly #late: LateRequests;

  constructor(folders: ObjectFolders, late: LateRequests) {
    this.#folders = folders;
    this.#late = late;
    this.#copies = new ObjectCopies(folders);
  }

  /** Creates a folder. @throws ItemExists, ItemNotFound (no such parent), PathTooLong */
  async createFolder(parent: readonly string[], name: string, { token, confirm }: ObjectChangeContext): Promise<void> {
    await this.#checkParent(parent);
    const { store, keys } = this.#folders;
    const key = keys.folder([...parent, name]);
    this.#folders.checkLengths([key]);
    await this.#checkFree([...parent, name]);
    await confirm?.();
    if (!(await store.put(key, '', { condition: 'absent', token }))) throw new ItemExists('the name is taken');
  }

  /**
   * Copies all objects, notes that the copy is complete, then deletes the old ones.
   * @throws ItemNotFound, ItemExists, ItemBusy, PathTooLong, ChangeImpossible; ItemChanged, ItemArchived from `ObjectStore.copy`
   */
  async rename(parent: readonly string[], from: string, to: string, { token, confirm }: ObjectChangeContext): Promise<void> {
    const oldPath = [...parent, from];
    const newPath = [...parent, to];
    await this.#checkParent(parent);
    await this.#claim(oldPath, token, async () => {
      using memory = this.#folders.store.memory.begin();
      const objects = await this.#findObjects(oldPath, memory, (key) => {
        if (hasDotSegment(key))
          throw new ChangeImpossible('The folder contains an object with the segment . or .. in its key, which cannot be copied');
        this.#folders.checkLengths([this.#copies.renamedKey(key, oldPath, newPath)]);
      });
      await this.#checkFree(newPath);
      await confirm?.();
      const copiedVersions = await this.#copies.runOrDelete({ from: oldPath, to: newPath, token, confirm }, async () => {
        const versions = await this.#copies.copy(objects, oldPath, newPath, token);
        await confirm?.(); // copying may take so long that another process has undone the change
        await this.#noteDecision(token, versions);
        return versions;
      });
      await this.#deleteDecided(oldPath, copiedVersions, { token, confirm });
    });
  }

  /** Removes a file or folder. @throws ItemNotFound, ItemBusy, ChangeImpossible */
  async remove(parent: readonly string[], name: string, { token, confirm }: ObjectChangeContext): Promise<void> {
    const path = [...parent, name];
    await this.#checkParent(parent);
    await this.#claim(path, token, async () => {
      using memory = this.#folders.store.memory.begin();
      const objects = await this.#findObjects(path, memory, (key) => {
        if (this.#folders.store.deletesByUrl && hasDotSegment(key))
          throw new ChangeImpossible('The folder contains an object with the segment . or .. in its key, which cannot be deleted');
      });
      const versions = versionsOf(objects);
      await confirm?.();
      await this.#keepFolder(parent);
      await this.#noteDecision(token, versions);
      await this.#deleteDecided(path, versions, { token, confirm });
    });
  }

  /**
   * Completes a change whose decision was noted. Otherwise deletes the copies of a rename whose original exists.
   * @returns see `Storage`
   * @throws StorageUnavailable also while the service may still carry out a late request
   */
  async recover({ action, parent, name, newName, token }: PendingFileChange, confirm?: Confirm): Promise<string | null> {
    const { store, keys } = this.#folders;
    const path = [...parent, name];
    await store.hasKeys(keys.folder([])); // throws if there is no bucket: the outcome is then unknown
    if (action === 'createFolder') return (await store.describe(keys.folder(path)))?.token === token ? name : null;
    const decision = await store.describe(keys.staging(decisionName(token)));
    if (decision) {
      if (store.ignoresVersions) this.#late.check(token, decision.modified, maxWorkTime());
      using memory = store.memory.begin();
      await this.#deleteVersions(path, await this.#readDecision(token, memory), { notAfter: decision.modified, confirm });
      return action === 'rename' ? newName : name;
    }
    if (action !== 'rename') return null;
    const newPath = [...parent, newName];
    await this.#checkCopied(path, newPath, token);
    // If the originals are gone but copies exist, the rename was completed, and its decision was deleted afterwards.
    if (!(await this.#folders.entry(path))) {
      for await (const copies of this.#copies.pages(newPath, token)) if (copies.length > 0) return newName;
      return null;
    }
    await this.#copies.delete({ from: path, to: newPath, token, confirm });
    return null;
  }

  /** @throws StorageUnavailable while the service may still be copying an object of a rename */
  async #checkCopied(path: readonly string[], newPath: readonly string[], token: string): Promise<void> {
    const claim = await this.#folders.store.describe(this.#claimKey(path));
    if (claim?.token !== token) return; // the rename copied nothing
    let [last, largest] = [claim.modified, 0];
    for await (const copies of this.#copies.pages(newPath, token)) for (const { modified } of copies) last = Math.max(last, modified);
    for await (const originals of this.#folders.objectPages(path)) for (const { size } of originals) largest = Math.max(largest, size);
    this.#late.check(token, last, maxWorkTime(largest));
  }

  /** Deletes the evidence of a change. */
  async clear({ action, parent, name, token }: PendingFileChange): Promise<void> {
    if (action === 'createFolder') return; // leaves no evidence in the staging area
    const { store, keys } = this.#folders;
    const claim = this.#claimKey([...parent, name]);
    const isOurs = (await store.describe(claim))?.token === token;
    await store.delete([keys.staging(decisionName(token)), ...(isOurs ? [claim] : [])]);
  }

  #claimKey(path: readonly string[]): string {
    const { keys } = this.#folders;
    return keys.staging(`${createHash('sha256').update(keys.file(path)).digest('base64url')}.claim`);
  }

  /**
   * Runs a change of an item. If the service supports conditions, no other process can rename or delete the item meanwhile. The claim stays
   * until `clear`: after a failure, recovery may have to complete the change.
   * @throws ItemBusy
   */
  async #claim(path: readonly string[], token: string, change: () => Promise<void>): Promise<void> {
    const isClaimed = await this.#folders.store.put(this.#claimKey(path), '', { condition: 'absent', token });
    if (!isClaimed) throw new ItemBusy('another request is renaming or deleting the item');
    await change();
  }

  async #checkParent(parent: readonly string[]): Promise<void> {
    if (!(await this.#folders.hasFolder(parent))) throw new ItemNotFound('there is no such folder');
  }

  async #checkFree(path: readonly string[]): Promise<void> {
    if (await this.#folders.entry(path)) throw new ItemExists('the name is taken');
  }

  /** Finds the objects of an item, and checks the key of each while the pages arrive: a check of all at once would block the event loop. */
  async #findObjects(
    path: readonly string[],
    memory: MemoryReservation,
    checkKey: (key: string) => void,
  ): Promise<readonly StoredObject[]> {
    const objects: StoredObject[] = [];
    let bytes = 0;
    for await (const page of this.#folders.objectPages(path)) {
      objects.push(...page);
      for (const { key, etag, isLocked } of page) {
        bytes += memoryOfVersion.character * (key.length + etag.length) + memoryOfVersion.version;
        if (isLocked) throw new ChangeImpossible('Another program has locked a file, so that it can be neither renamed nor deleted');
        checkKey(key);
      }
      memory.set(bytes);
      if (objects.length > maxObjects)
        throw new ChangeImpossible(`The folder has more than ${maxObjects} files. Rename or delete its subfolders one after the other`);
    }
    if (objects.length === 0) throw new ItemNotFound('there is no such item');
    return objects;
  }

  /** Creates the object of a folder: without this object, the folder would disappear with its last file. */
  async #keepFolder(path: readonly string[]): Promise<void> {
    if (path.length === 0) return; // the root always exists
    const { store, keys } = this.#folders;
    await store.put(keys.folder(path), '', { condition: 'absent' });
  }

  /** Writes the decision of a change: the versions of the objects that are deleted from now on. A rename first completes all copies. */
  async #noteDecision(token: string, versions: ETagsByKey): Promise<void> {
    const { store, keys } = this.#folders;
    await store.put(keys.staging(decisionName(token)), await decisionBody(versions), { repeatable: true });
  }

  async #readDecision(token: string, memory: MemoryReservation): Promise<ETagsByKey> {
    const { store, keys } = this.#folders;
    const decision = await store.get(keys.staging(decisionName(token)));
    return decision ? readDecision(decision.body, maxObjects, store.monotonic, memory) : new Map();
  }

  /**
   * Deletes the objects whose versions were noted in the decision of a change.
   * @throws the error of `confirm`; StorageUnavailable if another process has completed the change and deleted its decision
   */
  async #deleteDecided(path: readonly string[], versions: ETagsByKey, { token, confirm }: ObjectChangeContext): Promise<void> {
    const { store, keys } = this.#folders;
    const decision = await store.describe(keys.staging(decisionName(token)));
    if (!decision) throw new StorageUnavailable('the decision of a change is gone');
    await this.#deleteVersions(path, versions, { notAfter: decision.modified, confirm });
  }

  /**
   * Deletes the objects of an item that still have the given versions. An object that was written later stays: it is not part of
   * the change.
   * @param notAfter ms since the epoch; a later object with the same content belongs to a later change
   * @throws the error of `confirm`
   */
  async #deleteVersions(
    path: readonly string[],
    versions: ETagsByKey,
    { notAfter, confirm }: { readonly notAfter: number; readonly confirm: Confirm | undefined },
  ): Promise<void> {
    for await (const page of this.#folders.objectPages(path)) {
      const objects = page.filter(({ key, etag, modified }) => versions.get(key) === etag && modified <= notAfter);
      await this.#folders.store.deleteUnchanged(objects, confirm);
    }
  }
}
