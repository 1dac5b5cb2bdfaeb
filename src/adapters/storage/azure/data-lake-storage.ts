import { CollectingStorage } from '#adapters/storage/moves/collecting-storage.ts';
import type { ItemPath } from '#core/item-path.ts';
import type { AzureConfiguration } from '#core/records/location-configurations.ts';
import type { OpenFile, Storage, TestStep } from '#ports/storage.ts';
import { type AzureServices, openContainer } from './azure-storage.ts';
import { openDataLakeFile } from './data-lake-file.ts';
import { DataLakeItems } from './data-lake-items.ts';
import { dataLakeTestSteps } from './data-lake-test-steps.ts';

/** The files of a location in an account of Azure with a hierarchical namespace (Data Lake Storage). */
export class DataLakeStorage extends CollectingStorage implements Storage {
  readonly #items: DataLakeItems;
  readonly #monotonic: () => number;

  constructor(configuration: AzureConfiguration, tid: number, services: AzureServices) {
    const { parts, spool, memory, lists, monotonic = () => performance.now(), now = Date.now } = services;
    const tenantMemory = memory.of(tid);
    const items = new DataLakeItems(openContainer(configuration, tid, services), tenantMemory, configuration.prefix);
    super(items, { parts, spool, tid }, now, { memory: tenantMemory, lists });
    this.#items = items;
    this.#monotonic = monotonic;
  }

  testSteps(token: string): readonly TestStep[] {
    return dataLakeTestSteps(this.#items, this.evidence, this.moves, token);
  }

  async folderKey(path: ItemPath): Promise<string> {
    return `azure ${this.#items.container.address.containerUrl} ${this.#items.keyOf(path)}`;
  }

  async open(path: ItemPath): Promise<OpenFile | null> {
    return path.length === 0 ? null : openDataLakeFile(this.#items, path, this.#monotonic);
  }
}
