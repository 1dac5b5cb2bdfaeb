import type { PageServices } from '#adapters/storage/service-pages.ts';
import type { ClosedUpload, ContinuedUpload, PendingFileChange, Upload, UploadTarget } from '#ports/storage.ts';
import { type CollectingSpace, continueCollectedUpload, type FileServer, startCollectedUpload } from './collected-upload.ts';
import { ItemStorage } from './item-storage.ts';

/** A storage whose server gets a file only when it is complete. Until then, the file is collected on this machine. */
export abstract class CollectingStorage extends ItemStorage {
  readonly #server: FileServer;
  readonly #space: CollectingSpace;

  /** @param now ms since the epoch */
  constructor(server: FileServer, space: CollectingSpace, now: () => number, pageServices: PageServices) {
    super(server, now, pageServices);
    this.#server = server;
    this.#space = space;
  }

  upload(target: UploadTarget, token: string): Promise<Upload> {
    return this.pages.watchUpload(startCollectedUpload(this.#uploadPlace, target, token));
  }

  readonly continueUpload = (target: UploadTarget, upload: ClosedUpload): Promise<ContinuedUpload> =>
    this.pages.watchContinued(continueCollectedUpload(this.#uploadPlace, target, upload));

  override async clearEvidence(change: PendingFileChange): Promise<void> {
    await this.#space.spool.delete(this.#space.tid, change.token);
    await super.clearEvidence(change);
  }

  get #uploadPlace() {
    return { ...this.#space, server: this.#server, evidence: this.evidence, moves: this.moves };
  }
}
