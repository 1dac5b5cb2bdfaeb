import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { objectFromHeaders } from '#adapters/storage/objects/list-pages.ts';
import { mapInBatches } from '#adapters/storage/objects/map-in-batches.ts';
import type {
  ObjectDescription,
  ObjectRange,
  ObjectStore,
  ObjectVersion,
  PartsOptions,
  PutOptions,
  WriteCondition,
} from '#adapters/storage/objects/object-store.ts';
import { bodyTimeLimit, conditionFailedStatuses, rangeRequest, slowTimeLimit } from '#adapters/storage/objects/service-request.ts';
import { xmlText } from '#adapters/storage/objects/xml.ts';
import type { GroupMemory } from '#core/memory-budget.ts';
import type { OutboundBody, OutboundResponse } from '#ports/outbound.ts';
import type { Confirm } from '#ports/storage.ts';
import { ItemChanged, ItemExists, OutcomeUnknown } from '#ports/storage-errors.ts';
import type { AzureContainer } from './azure-container.ts';
import { azureCodeOf, hierarchicalNamespaceError, rethrowReadError } from './azure-errors.ts';
import { hasBlobs, isArchiveTier, isAzureKeyTooLong, listBlobs } from './azure-list.ts';

/** Header in which Postern stores the token of the change that wrote a blob. */
const tokenHeader = 'x-ms-meta-posterntoken';
const copiedHeaders = /^x-ms-meta-.+$/;
const [firstPause, longestPause] = [200, 5_000]; // ms between two checks of a copy that the service has not completed

/** Returns the headers of a request that writes only under a condition. */
function headersOf(condition: WriteCondition): Readonly<Record<string, string>> {
  if (condition === 'none') return {};
  return condition === 'absent' ? { 'if-none-match': '*' } : { 'if-match': condition.etag };
}

/**
 * Returns the id of a block. All block ids of a blob must have the same length, including those of
 * other uploads.
 */
const blockId = (uploadId: string, number: number) => Buffer.from(`${uploadId}-${`${number}`.padStart(5, '0')}`).toString('base64');

/**
 * Returns the state of a blob whose copy is pending or has failed: such a blob has no bytes. Returns no state
 * for other blobs.
 */
function copyStateOf(status: string | undefined): Pick<ObjectDescription, 'copyState'> {
  if (status === undefined || status === 'success') return {};
  return { copyState: status === 'pending' ? 'pending' : 'failed' };
}

export interface AzureStoreServices {
  readonly memory: GroupMemory;
  /** ms, monotonic. */
  readonly monotonic: () => number;
  /** Signs the address of a download; null: the credentials cannot sign. */
  readonly sign: ObjectStore['signAddress'];
}

export class AzureStore implements ObjectStore {
  readonly versionHeader = null;
  readonly ignoresVersions = false;
  readonly deletesByUrl = true;
  readonly identity: string;
  readonly memory: GroupMemory;
  readonly monotonic: () => number;
  readonly signAddress: ObjectStore['signAddress'];
  readonly #container: AzureContainer;

  constructor(container: AzureContainer, { memory, monotonic, sign }: AzureStoreServices) {
    this.#container = container;
    this.identity = `azure ${container.address.containerUrl}`;
    this.memory = memory;
    this.monotonic = monotonic;
    this.signAddress = sign;
  }

  isKeyTooLong(key: string) {
    return isAzureKeyTooLong(key);
  }

  list(prefix: string, delimiter?: '' | '/') {
    return listBlobs(this.#container, this, prefix, delimiter);
  }

  hasKeys(prefix: string) {
    return hasBlobs(this.#container, this, prefix);
  }

  async describe(key: string): Promise<ObjectDescription | null> {
    const { status, headers } = await this.#container.sendAndRead('HEAD', key, { expected: [404] });
    if (status === 404) return null;
    if (headers['x-ms-resource-type'] === 'directory' || headers['x-ms-meta-hdi_isfolder'] === 'true') throw hierarchicalNamespaceError();
    const metadata = Object.entries(headers).filter(([name, value]) => copiedHeaders.test(name) && /^[\x20-\x7e]*$/.test(value));
    return {
      ...objectFromHeaders(key, headers, isArchiveTier(headers['x-ms-access-tier'])),
      isLocked: headers['x-ms-lease-status'] === 'locked',
      token: headers[tokenHeader] ?? null,
      headers: Object.fromEntries(metadata),
      ...copyStateOf(headers['x-ms-copy-status']),
    };
  }

  get(key: string, range: ObjectRange = {}): Promise<OutboundResponse | null> {
    return this.#container.get(key, rangeRequest(range));
  }

  async put(key: string, body: string | OutboundBody, { token, condition = 'none', repeatable = false }: PutOptions = {}) {
    const headers = { 'x-ms-blob-type': 'BlockBlob', ...this.#tokenHeaders(token), ...headersOf(condition) };
    const limit = typeof body === 'string' ? {} : { timeLimit: bodyTimeLimit };
    const expected = conditionFailedStatuses(condition);
    return (await this.#container.sendAndRead('PUT', key, { headers, body, expected, repeatable, ...limit })).status < 300;
  }

  async delete(keys: readonly string[]): Promise<void> {
    await mapInBatches(keys, (key) => this.#delete(key, {}, [404]));
  }

  async deleteUnchanged(objects: readonly ObjectVersion[], confirm?: Confirm): Promise<void> {
    await confirm?.();
    await mapInBatches(objects, ({ key, etag }) => this.#delete(key, { 'if-match': etag }, [404, 412]));
  }

  async copy(from: ObjectDescription, to: string, { token, overwrites }: { readonly token: string; readonly overwrites: boolean }) {
    const headers = {
      ...from.headers,
      ...this.#tokenHeaders(token),
      ...{ 'x-ms-copy-source': await this.#container.sourceUrl(from.key), 'x-ms-source-if-match': from.etag },
      ...headersOf(overwrites ? 'none' : 'absent'),
    };
    const request = { headers, expected: [404, 409, 412], timeLimit: slowTimeLimit };
    const response = await this.#container.sendAndRead('PUT', to, request).catch(rethrowReadError);
    if (response.status >= 300) {
      if (azureCodeOf(response) === 'BlobAlreadyExists') throw new ItemExists('there is a blob with this key');
      throw new ItemChanged('the blob to copy has changed');
    }
    if (response.headers['x-ms-copy-status'] !== 'success') await this.#awaitCopy(to);
  }

  /**
   * Returns an id that is the same for each attempt of an upload. Azure needs no request to start an upload in
   * blocks.
   */
  async startParts(_key: string, token: string): Promise<string> {
    return createHash('sha256').update(token).digest('hex').slice(0, 16);
  }

  async putPart(key: string, uploadId: string, number: number, body: OutboundBody): Promise<string> {
    const id = blockId(uploadId, number);
    await this.#container.sendAndRead('PUT', key, {
      query: { comp: 'block', blockid: id },
      body,
      timeLimit: bodyTimeLimit,
      repeatable: true,
    });
    return id;
  }

  async joinParts(key: string, _uploadId: string, parts: readonly string[], { token, condition }: PartsOptions): Promise<boolean> {
    const blocks = parts.map((id) => `<Latest>${xmlText(id)}</Latest>`);
    const response = await this.#container.sendAndRead('PUT', key, {
      query: { comp: 'blocklist' },
      headers: { ...this.#tokenHeaders(token), ...headersOf(condition) },
      body: `<?xml version="1.0" encoding="utf-8"?><BlockList>${blocks.join('')}</BlockList>`,
      expected: [400, 404, 409, 412],
      timeLimit: slowTimeLimit,
    });
    if (response.status === 400 && azureCodeOf(response) !== 'InvalidBlockList')
      throw new OutcomeUnknown('the service did not join the blocks');
    // If another upload has joined its blocks under this name, the service has discarded ours.
    return response.status < 300;
  }

  /** Does nothing: after a week, the service deletes blocks that were not joined. */
  async abortParts(): Promise<void> {}

  async #delete(key: string, condition: Readonly<Record<string, string>>, expected: readonly number[]): Promise<void> {
    const headers = { 'x-ms-delete-snapshots': 'include', ...condition };
    await this.#container.sendAndRead('DELETE', key, { headers, expected, repeatable: true });
  }

  #tokenHeaders(token: string | undefined): Readonly<Record<string, string>> {
    return token === undefined ? {} : { [tokenHeader]: token };
  }

  /** Waits until the service has completed a copy. @throws OutcomeUnknown if it fails or takes too long */
  async #awaitCopy(key: string): Promise<void> {
    const end = this.monotonic() + slowTimeLimit;
    for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
      const { status, headers } = await this.#container.sendAndRead('HEAD', key, { expected: [404] });
      const state = headers['x-ms-copy-status'];
      if (status < 300 && state === 'success') return;
      if (state !== 'pending' || this.monotonic() > end) throw new OutcomeUnknown('the service did not complete a copy');
      await delay(pause, undefined, { ref: false });
    }
  }
}
