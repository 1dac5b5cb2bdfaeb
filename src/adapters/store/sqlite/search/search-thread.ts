import { parentPort, workerData } from 'node:worker_threads';
import type { DriverResult } from '#adapters/store/kysely-driver.ts';
import { openConnection } from '#adapters/store/sqlite/connection.ts';
import { sqliteCodeOf } from '#adapters/store/sqlite/errors.ts';
import type { SearchPage, SearchScope, WordMatch } from '#ports/search.ts';
import { type ChangedRecord, TenantTexts } from './tenant-texts.ts';
import { type WordPageRequest, wordPageFinder } from './word-page.ts';

/** A message to the thread. A message with a number gets a response with the same number. */
export type SearchThreadRequest =
  | { readonly number: number; readonly query: { readonly sql: string; readonly parameters: readonly unknown[] } }
  | { readonly number: number; readonly find: WordPageRequest; readonly texts: SearchScope; readonly match: Omit<WordMatch, 'matches'> }
  | { readonly preload: SearchScope }
  | { readonly changedRecords: readonly ChangedRecord[] };
/** A response of the thread. A null page: the tenant's texts do not fit in the memory limit. */
export type SearchThreadResponse = { readonly number: number } & (
  | { readonly result: DriverResult }
  | { readonly page: SearchPage | null }
  | { readonly error: string; readonly errcode: number }
);

/** The data with which the thread starts. */
export interface SearchThreadData {
  readonly file: string;
  readonly maxBytes: number;
}

const { file, maxBytes }: SearchThreadData = workerData;
const connection = openConnection(file, { readOnly: true });
const texts = new TenantTexts(connection, maxBytes);
const pageOf = wordPageFinder(connection);

async function respond(message: Extract<SearchThreadRequest, { number: number }>): Promise<SearchThreadResponse> {
  const { number } = message;
  if ('query' in message) return { number, result: connection.run(message.query.sql, message.query.parameters) };
  const { word, locationIds: within } = message.match;
  const index = await texts.get(message.texts);
  return { number, page: index && pageOf(index.find(word, within), index.size, message.find) };
}

parentPort?.on('message', (message: SearchThreadRequest) => {
  if ('changedRecords' in message) return texts.applyChanges(message.changedRecords);
  if ('preload' in message) return texts.preload(message.preload);
  respond(message)
    .catch((cause: unknown): SearchThreadResponse => {
      const problem = cause instanceof Error ? cause.message : 'unknown';
      return { number: message.number, error: problem, errcode: sqliteCodeOf(cause) };
    })
    .then((response) => parentPort?.postMessage(response));
});
