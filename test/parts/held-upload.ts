import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { until } from '../ports/until.ts';
import type { TestPostern } from '../start.ts';

/** An upload that has begun and waits for its last bytes. */
interface HeldUpload {
  /** Sends the remaining bytes. */
  finish(): Promise<{ readonly status: number }>;
}

/**
 * Begins an upload, and waits until Postern has recorded it as pending.
 * @param size bytes of the file
 * @param sentBytes bytes that are sent before the upload waits
 */
export async function holdUpload(
  postern: TestPostern,
  path: string,
  size: number,
  moreHeaders: Record<string, string> = {},
  sentBytes = size - 1,
): Promise<HeldUpload> {
  const { hostname, port } = new URL(postern.apiUrl);
  const headers = { host: new URL(postern.publicUrl).host, 'content-length': size, ...moreHeaders };
  const upload = request({ hostname, port, path, method: 'PUT', headers, agent: false });
  const response = once(upload, 'response');
  upload.write('x'.repeat(sentBytes));
  await until(async () => (await postern.ports.store.read.selectFrom('unsettled').select('token').execute()).length > 0);
  return {
    async finish() {
      upload.end('x'.repeat(size - sentBytes));
      const [message]: IncomingMessage[] = await response;
      message?.resume();
      return { status: message?.statusCode ?? 0 };
    },
  };
}
