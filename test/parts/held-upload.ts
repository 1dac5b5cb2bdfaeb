import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { until } from '../ports/until.ts';
import type { TestPostern } from '../start.ts';

/** An upload that has begun and waits for its last byte. */
interface HeldUpload {
  /** Sends the last byte. */
  finish(): Promise<{ readonly status: number }>;
}

/** Begins an upload, and waits until Postern has recorded it as pending. @param size bytes of the file */
export async function holdUpload(
  postern: TestPostern,
  path: string,
  size: number,
  moreHeaders: Record<string, string> = {},
): Promise<HeldUpload> {
  const { hostname, port } = new URL(postern.apiUrl);
  const headers = { host: new URL(postern.publicUrl).host, 'content-length': size, ...moreHeaders };
  const upload = request({ hostname, port, path, method: 'PUT', headers, agent: false });
  const response = once(upload, 'response');
  upload.write('x'.repeat(size - 1));
  await until(async () => (await postern.ports.store.read.selectFrom('unsettled').select('token').execute()).length > 0);
  return {
    async finish() {
      upload.end('x');
      const [message]: IncomingMessage[] = await response;
      message?.resume();
      return { status: message?.statusCode ?? 0 };
    },
  };
}
