import { request } from 'node:http';
import autocannon from 'autocannon';

export interface RepeatedRequest {
  readonly url: string;
  readonly method?: 'GET' | 'POST';
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** Returns the requests per second over keep-alive connections. @throws if a request fails or is refused, or if none succeeds */
export async function measureRate(repeated: RepeatedRequest, connections: number, seconds: number): Promise<number> {
  const { '2xx': successes, non2xx, errors, duration } = await autocannon({ ...repeated, connections, duration: seconds });
  if (non2xx > 0 || errors > 0 || successes === 0) throw new Error(`${repeated.url}: ${non2xx} refused, ${errors} failed`);
  return successes / duration;
}

/** Reads and discards a response. @returns seconds until the first byte of its body and until its end, and the bytes of its body */
export function download(url: string, headers: Record<string, string> = {}): Promise<{ first: number; total: number; bytes: number }> {
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { headers, agent: false }, (response) => {
      let [first, bytes] = [0, 0];
      response.on('data', (chunk: Buffer) => {
        if (bytes === 0) first = (performance.now() - start) / 1000;
        bytes += chunk.length;
      });
      response.on('end', () => resolve({ first, total: (performance.now() - start) / 1000, bytes }));
      response.on('error', reject);
    });
    outgoing.on('error', reject).end();
  });
}

/** Uploads `bytes` bytes. @returns seconds until the end of the response */
export function upload(url: string, method: 'PUT' | 'POST', bytes: number): Promise<number> {
  const start = performance.now();
  const piece = Buffer.alloc(1 << 20, 'postern');
  return new Promise((resolve, reject) => {
    const sending = request(url, { method, headers: { 'content-length': bytes }, agent: false }, (response) => {
      response.resume();
      response.on('end', () =>
        response.statusCode && response.statusCode < 300
          ? resolve((performance.now() - start) / 1000)
          : reject(new Error(`${url} answered ${response.statusCode}`)),
      );
    });
    sending.on('error', reject);
    let left = bytes;
    const write = () => {
      while (left > 0) {
        const part = piece.subarray(0, Math.min(piece.length, left));
        left -= part.length;
        if (!sending.write(part)) return void sending.once('drain', write);
      }
      sending.end();
    };
    write();
  });
}

/** Sends the same kind of request many times. @param concurrency requests at a time @param send sends one of them */
export async function sendMany(count: number, concurrency: number, send: (number: number) => Promise<unknown>): Promise<void> {
  let sent = 0;
  const sendNext = async () => {
    while (sent < count) {
      sent += 1;
      await send(sent);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, sendNext));
}
