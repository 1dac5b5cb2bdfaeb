import type { TestContext } from 'node:test';
import { guardedOutbound } from '#adapters/net/guarded-outbound.ts';
import { packRangeText } from '#core/authorization/address-range.ts';
import { OutcomeUnknown, StorageUnavailable } from '#ports/storage-errors.ts';
import { atEnd } from '../parts/at-end.ts';
import { startFakeS3 } from '../parts/fake-s3.ts';
import type { FakeResponder } from '../parts/fake-service.ts';
import { openS3 } from '../parts/open-s3.ts';

/** Starts a fake S3 service. @returns a storage in it, its requests and its address */
export async function startFakeS3Storage(t: TestContext, answer: FakeResponder, monotonic?: () => number) {
  const { configuration, requests } = await startFakeS3(t, answer);
  const outbound = guardedOutbound({ privateTargets: packRangeText('127.0.0.1') });
  atEnd(t, () => outbound[Symbol.asyncDispose]());
  return { storage: openS3(configuration, outbound, monotonic && { monotonic }), requests, endpoint: configuration.endpoint };
}

/** Returns a page of a list. */
export const listPageXml = (keys: readonly string[], next = '') =>
  `<ListBucketResult><IsTruncated>${next !== ''}</IsTruncated><NextContinuationToken>${next}</NextContinuationToken>${keys
    .map((name) => `<Contents><Key>${name}</Key><Size>4</Size><ETag>"e"</ETag><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>`)
    .join('')}</ListBucketResult>`;
/** Headers that describe a file. */
export const fileHeaders = { 'content-length': '4', etag: '"e"', 'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT' };
/** Returns whether an error says that the storage is unavailable, and that nothing was changed. */
export const isUnavailable = (cause: unknown) => cause instanceof StorageUnavailable && !(cause instanceof OutcomeUnknown);
