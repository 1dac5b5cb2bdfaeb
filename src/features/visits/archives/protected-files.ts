import {
  type DeliveryDecision,
  type DeliveryDenial,
  deliver,
  needsMark,
  needsSignature,
  requiresWatermark,
} from '#core/authorization/delivery.ts';
import type { DatedEntry } from '#core/listing.ts';
import { Refusal } from '#core/messages.ts';
import { findSigner, type SignPorts } from '#features/signatures/sign-pdf.ts';
import type { AuthorizedVisit } from '#features/visits/authorization/authorize-visit.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import { makeNewFile } from '#features/visits/documents/new-file.ts';
import { sourceDocument } from '#features/visits/documents/source-document.ts';
import { readHead, withReadErrors } from '#features/visits/files/open-file.ts';
import type { PageMark } from '#ports/documents.ts';
import type { Ports } from '#ports/ports.ts';
import type { OpenFile } from '#ports/storage.ts';
import { type ArchivedFolder, walkArchivedFolder, walkInSlices } from './folder-walk.ts';
import { type OmissionReason, OmittedFiles, omissionReasons } from './omitted-files.ts';
import { archivedItemPath } from './pending-folders.ts';
import type { ZipSource } from './zip-writer.ts';

export type ProtectedFilePorts = Pick<Ports, 'media'> & SignPorts & Pick<VisitServices, 'documentTurns' | 'drawnMemory'>;

const keepAliveInterval = 10_000; // ms: much less than the timeout of a connection

/** Returns a file of bytes in memory. @param release gives the memory back */
const fileOfBytes = (entry: DatedEntry, bytes: Uint8Array, release: () => void): OpenFile => ({
  entry: { ...entry, size: bytes.length },
  async *read({ start, end }) {
    yield bytes.subarray(start, end + 1);
  },
  close: async () => release(),
});

const isOmission = (cause: unknown): cause is Refusal & { readonly messageName: OmissionReason } =>
  cause instanceof Refusal && Object.hasOwn(omissionReasons, cause.messageName);

/** Calls a function at intervals, until disposal. */
function callAtIntervals(onWait: () => void): Disposable {
  const timer = setInterval(() => {
    try {
      onWait();
    } catch {
      clearInterval(timer); // the client has left, which ends the work
    }
  }, keepAliveInterval);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/**
 * The files of an archive of a share with a watermark or with signatures. What cannot be marked or signed is left out, and named in a text
 * file.
 */
export class ProtectedFiles {
  readonly #ports: ProtectedFilePorts;
  readonly #visit: AuthorizedVisit;
  readonly #archivedFolder: ArchivedFolder;
  readonly #mark: PageMark | null;

  /** @param mark null: the files need none */
  constructor(ports: ProtectedFilePorts, visit: AuthorizedVisit, archivedFolder: ArchivedFolder, mark: PageMark | null) {
    this.#ports = ports;
    this.#visit = visit;
    this.#archivedFolder = archivedFolder;
    this.#mark = mark;
  }

  /**
   * Checks, before the archive begins, that it can be sent. Yields after every slice.
   * @throws Refusal (403) if it has files, but none of them may be sent; (503) if a PDF has to be signed, but cannot be signed now; as
   *   `walkInSlices`
   */
  async *check(): AsyncGenerator<void> {
    const { share } = this.#visit.permit;
    const signerRefusal = share.digitalSignature ? await this.#signerRefusal() : null;
    if (!signerRefusal && !requiresWatermark(share)) return;
    let [denial, hasFile]: [DeliveryDenial | null, boolean] = [null, false];
    for await (const item of walkInSlices(this.#archivedFolder)) {
      if (!item) yield;
      if (!item || item.entry.folder) continue;
      this.#archivedFolder.clientGone.throwIfAborted();
      const delivery = await this.#deliveryAt(item.name);
      if (!delivery) continue;
      if ('denial' in delivery) denial ??= delivery.denial;
      else if (!signerRefusal) return;
      else if (needsSignature(delivery.form)) throw signerRefusal;
      else hasFile = true;
    }
    if (denial && !hasFile) throw new Refusal(denial);
  }

  /**
   * Yields the items of the archive, and at the end the list of the files that are left out.
   * @param onWait called while no bytes can be sent. It throws if the client no longer waits
   */
  async *sources(onWait: () => void): AsyncGenerator<ZipSource> {
    const omitted = new OmittedFiles();
    for await (const item of walkArchivedFolder(this.#archivedFolder)) {
      if (!item) continue;
      const { entry, name } = item;
      omitted.noteItem(name);
      yield { name, modified: entry.modified, open: entry.folder ? null : () => this.#openUnlessOmitted(name, omitted, onWait) };
    }
    const note = omitted.note();
    if (!note) return;
    const entry = { name: note.name, folder: false, size: note.text.length, modified: this.#ports.clock.now(), etag: '' };
    yield { ...entry, open: async () => fileOfBytes(entry, note.text, () => {}) };
  }

  /** Returns why no PDF can be signed now, or null. */
  async #signerRefusal(): Promise<Refusal | null> {
    try {
      await findSigner(this.#ports, this.#visit.link.tid);
      return null;
    } catch (cause) {
      if (cause instanceof Refusal) return cause;
      throw cause;
    }
  }

  async #deliveryAt(name: string): Promise<DeliveryDecision | null> {
    const file = await this.#openOriginal(name);
    if (!file) return null;
    try {
      return await this.#deliveryOf(file);
    } finally {
      await file.close();
    }
  }

  async #openUnlessOmitted(name: string, omitted: OmittedFiles, onWait: () => void): Promise<OpenFile | null> {
    try {
      return await this.#open(name, onWait);
    } catch (cause) {
      if (!isOmission(cause)) throw cause;
      omitted.add(name, cause.messageName);
      return null;
    }
  }

  #openOriginal(name: string): Promise<OpenFile | null> {
    const { storage, folder } = this.#archivedFolder;
    return withReadErrors(() => storage.open(archivedItemPath(folder, name)));
  }

  async #deliveryOf(file: OpenFile) {
    const { kind } = await this.#ports.media.byBytes(await readHead(file));
    return { ...deliver('downloadFolder', this.#visit.permit.share, kind), kind };
  }

  /** Opens a file in the form in which it may be sent. @returns null if it is gone @throws Refusal; the reason of `clientGone` */
  async #open(name: string, onWait: () => void): Promise<OpenFile | null> {
    const original = await this.#openOriginal(name);
    if (!original) return null;
    await using files = new AsyncDisposableStack();
    files.defer(() => original.close());
    const delivery = await this.#deliveryOf(original);
    if ('denial' in delivery) throw new Refusal(delivery.denial);
    if (delivery.form === 'original') {
      files.move();
      return original;
    }
    const { visitorRequest, link } = this.#visit;
    const { documentTurns, drawnMemory } = this.#ports;
    const { folder, clientGone } = this.#archivedFolder;
    const source = sourceDocument(link, archivedItemPath(folder, name), original, delivery.kind);
    using _calls = callAtIntervals(onWait);
    const { form } = delivery;
    const mark = needsMark(form) ? this.#mark : null;
    const bytes = await documentTurns({ ...visitorRequest, tid: link.tid }, clientGone, async (takeMemory) => {
      await takeMemory(original.entry.size);
      return makeNewFile(this.#ports, this.#visit, source, form, mark);
    });
    const memory = drawnMemory(visitorRequest.address, bytes);
    return fileOfBytes(original.entry, bytes, () => memory[Symbol.dispose]());
  }
}
