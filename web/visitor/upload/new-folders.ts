import { asFailure, createFolder, Failure } from '#visitor/link-api.ts';

/** Creates folders for uploads. Creates a folder only once, even if several files are uploaded into it. */
export class NewFolders {
  readonly #creations = new Map<string, Promise<void>>();

  /**
   * Creates the folders of a file.
   * @param path of the file, with its name at the end
   * @param existingDepth number of folders of the path that exist already
   * @throws Failure
   */
  async create(path: readonly string[], existingDepth: number): Promise<void> {
    for (let end = existingDepth + 1; end < path.length; end += 1) {
      const folder = path.slice(0, end);
      const key = folder.join('/');
      const creation = this.#creations.get(key) ?? this.#createOne(folder, key);
      this.#creations.set(key, creation);
      await creation;
    }
  }

  /** Forgets the folders: someone may delete them before the next upload. */
  clear(): void {
    this.#creations.clear();
  }

  async #createOne(folder: readonly string[], key: string): Promise<void> {
    try {
      await createFolder(folder);
    } catch (cause) {
      const failure = asFailure(cause);
      if (failure.code === 'itemExists') return;
      this.#creations.delete(key);
      throw ['signInNeeded', 'offline'].includes(failure.code) ? failure : new Failure(failure.status, 'folderNotCreated', '', null);
    }
  }
}
