import { type CostQueue, costQueue } from '#core/cost-queue.ts';
import { ProviderUnavailable } from '#ports/provider-errors.ts';
import type { ProviderDescription, SamlStatement } from '#ports/saml.ts';
import type { MetadataInput } from './read-metadata.ts';
import type { ResponseInput } from './read-response.ts';
import type { XmlTask } from './saml-thread.ts';
import { XmlLane } from './xml-lane.ts';

/** The group of the metadata of a tenant. Each network that sends responses has a group of its own. */
const metadataGroup = 'metadata';
const maxWait = 5000; // ms until metadata that waits for its turn is dropped

type Lane = Pick<XmlLane, 'isBusy' | 'read' | typeof Symbol.asyncDispose>;

/** A document that waits. */
interface WaitingDocument {
  readonly group: string;
  /** Reads the document, unless it was dropped, and settles the promise of its caller. @returns ms that it took */
  readonly readIn: (lane: Lane) => Promise<number>;
}

/**
 * Reads XML in two threads. A tenant uses only one of them at a time: if documents of its provider, or of anybody who posts a response, are
 * slow, the other thread is free for other tenants. Tenants take turns by the time that their documents have taken, and so do the networks
 * that send responses to a tenant.
 */
export class XmlReader implements AsyncDisposable {
  readonly #monotonic: () => number;
  readonly #lanes: readonly Lane[];
  readonly #tenants = costQueue<number>();
  readonly #documents = new Map<number, CostQueue<WaitingDocument>>();

  /** @param monotonic returns a monotonic time in ms */
  constructor(monotonic: () => number, lanes: readonly Lane[] = [new XmlLane(), new XmlLane()]) {
    this.#monotonic = monotonic;
    this.#lanes = lanes;
  }

  /** Reads a SAML response that a network has sent, and verifies its signature. @throws ResponseInvalid */
  readResponse(response: ResponseInput, tid: number, network: string): Promise<SamlStatement> {
    return this.#read<SamlStatement>({ response }, tid, network);
  }

  /** Reads the metadata of a tenant's provider. @throws ResponseInvalid; ProviderUnavailable if its turn does not come in time */
  readMetadata(metadata: MetadataInput, tid: number): Promise<ProviderDescription> {
    return this.#read<ProviderDescription>({ metadata }, tid, metadataGroup, maxWait);
  }

  async [Symbol.asyncDispose]() {
    for (const lane of this.#lanes) await lane[Symbol.asyncDispose]();
  }

  /** @param waitLimit ms; undefined: the document waits until its turn comes */
  #read<T>(task: XmlTask, tid: number, group: string, waitLimit?: number): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    let waitingTask: XmlTask | null = task; // null: dropped, so that the text does not take memory until its turn comes
    const drop = () => {
      waitingTask = null;
      reject(new ProviderUnavailable('Postern has too many other SAML documents to read. Try again in a few seconds.'));
    };
    const timer = waitLimit === undefined ? undefined : setTimeout(drop, waitLimit);
    const readIn = async (lane: Lane) => {
      clearTimeout(timer);
      if (!waitingTask) return 0;
      const start = this.#monotonic();
      await lane.read(waitingTask).then((value) => resolve(value as T), reject); // the thread returns the type that belongs to the task
      return this.#monotonic() - start;
    };
    const documents = this.#documents.get(tid) ?? costQueue<WaitingDocument>();
    this.#documents.set(tid, documents);
    documents.add(group, { group, readIn });
    this.#tenants.add(`${tid}`, tid);
    this.#startNext();
    return promise;
  }

  #startNext(): void {
    for (const lane of this.#lanes) {
      if (lane.isBusy) continue;
      const tid = this.#tenants.take();
      if (tid === undefined) return;
      void this.#readNext(tid, lane);
    }
  }

  /** Reads the next document of a tenant. */
  async #readNext(tid: number, lane: Lane): Promise<void> {
    const documents = this.#documents.get(tid);
    const document = documents?.take();
    if (!documents || !document) return;
    this.#tenants.pause(`${tid}`);
    const cost = await document.readIn(lane);
    documents.charge(document.group, cost);
    if (documents.isEmpty()) this.#documents.delete(tid);
    this.#tenants.charge(`${tid}`, cost);
    this.#tenants.resume(`${tid}`);
    this.#startNext();
  }
}
