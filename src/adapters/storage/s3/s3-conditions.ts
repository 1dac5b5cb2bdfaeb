import type { S3Bucket } from './s3-bucket.ts';
import { deleteObjects } from './s3-objects.ts';

/** The form in which a service accepts an ETag in `if-match`. ignored: it ignores the header, or accepts no form. */
type Form = 'quoted' | 'bare' | 'ignored';

const inForm = (etag: string, form: Exclude<Form, 'ignored'>) => (form === 'quoted' ? etag : etag.replaceAll('"', ''));

/** The conditions for writing that a service supports. They protect files from other writers, such as programs that do not use Postern. */
export class S3Conditions {
  readonly #bucket: S3Bucket;
  readonly #testKey: () => string;
  #form: Promise<Form> | null = null;

  /** @param testKey returns a key in the staging area */
  constructor(bucket: S3Bucket, testKey: () => string) {
    this.#bucket = bucket;
    this.#testKey = testKey;
  }

  /** Returns the headers of a request that creates an object only if there is none. Some services ignore these headers. */
  get ifAbsent(): Readonly<Record<string, string>> {
    return { 'if-none-match': '*' };
  }

  /** Returns headers with which a request replaces an object only if it has this ETag; none if the service ignores these. Tests it. */
  async ifMatches(etag: string): Promise<Readonly<Record<string, string>>> {
    this.#form ??= this.#test().catch((cause: unknown) => {
      this.#form = null;
      throw cause;
    });
    const form = await this.#form;
    return form === 'ignored' ? {} : { 'if-match': inForm(etag, form) };
  }

  /** Tests, with an object in the staging area, which form the service accepts. Some refuse every quoted ETag, others ignore the header. */
  async #test(): Promise<Form> {
    const key = this.#testKey();
    const write = (condition: Readonly<Record<string, string>>) =>
      this.#bucket.sendAndRead('PUT', key, { headers: condition, body: '', expected: [409, 412, 501] });
    try {
      const { headers } = await write({});
      const etag = headers['etag'] ?? '';
      if ((await write({ 'if-match': '"another"' })).status < 300) return 'ignored';
      for (const form of ['quoted', 'bare'] as const) if ((await write({ 'if-match': inForm(etag, form) })).status < 300) return form;
      return 'ignored';
    } finally {
      await deleteObjects(this.#bucket, [key]);
    }
  }
}
