import { parentPort, workerData } from 'node:worker_threads';
import type { DriverResult } from '#adapters/store/kysely-driver.ts';
import { openConnection } from '#adapters/store/sqlite/connection.ts';
import { codeOf } from '#adapters/store/sqlite/errors.ts';
import type { SearchedRecords, SearchPage, WordMatch } from '#ports/search.ts';
import { type ChangedRecord, tenantTexts } from './tenant-texts.ts';
import { type WordPage, wordPages } from './word-page.ts';

/** A message to the thread. A message with a number gets a response with the same number. */
export type SearchThreadRequest =
  | { readonly number: number; readonly ask: { readonly sql: string; readonly parameters: readonly unknown[] } }
  | { readonly number: number; readonly find: WordPage; readonly texts: SearchedRecords; readonly holding: Omit<WordMatch, 'matches'> }
  | { readonly expected: SearchedRecords }
  | { readonly changed: readonly ChangedRecord[] };
/** A response of the thread. A null page: the tenant's texts do not fit in the memory limit. */
export type SearchThreadResponse = { readonly number: number } & (
  | { readonly answer: DriverResult }
  | { readonly page: SearchPage | null }
  | { readonly problem: string; readonly errcode: number }
);

/** The data with which the thread starts. */
export interface SearchData {
  readonly file: string;
  readonly mostBytes: number;
}

const { file, mostBytes }: SearchData = workerData;
const connection = openConnection(file, { readOnly: true });
const texts = tenantTexts(connection, mostBytes);
const pageOf = wordPages(connection);

async function respond(message: Extract<SearchThreadRequest, { number: number }>): Promise<SearchThreadResponse> {
  const { number } = message;
  if ('ask' in message) return { number, answer: connection.run(message.ask.sql, message.ask.parameters) };
  const { word, within } = message.holding;
  const index = await texts.of(message.texts);
  return { number, page: index && pageOf(index.find(word, within), index.size(), message.find) };
}

parentPort?.on('message', (message: SearchThreadRequest) => {
  if ('changed' in message) return texts.changed(message.changed);
  if ('expected' in message) return texts.expect(message.expected);
  respond(message)
    .catch((cause: unknown): SearchThreadResponse => {
      const problem = cause instanceof Error ? cause.message : 'unknown';
      return { number: message.number, problem, errcode: codeOf(cause) };
    })
    .then((response) => parentPort?.postMessage(response));
});
