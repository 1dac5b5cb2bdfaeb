import type { TestContext } from 'node:test';
import type { S3Configuration } from '#core/records/location-configurations.ts';
import { type FakeResponder, startFakeService } from './fake-service.ts';

/** Starts a fake S3 service. */
export async function startFakeS3(t: TestContext, answer: FakeResponder) {
  const service = await startFakeService(t, answer);
  const key = { accessKeyId: 'id', secretAccessKey: 'secret' };
  const configuration: S3Configuration = { endpoint: service.endpoint, region: 'default', bucket: 'bucket', ...key };
  return { ...service, configuration };
}
