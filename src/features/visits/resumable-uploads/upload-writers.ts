import { Refusal } from '#core/messages.ts';
import { waitAtMost } from '#core/time-limit.ts';

/** ms. A client that has sent nothing for this time has probably lost its connection. The next request about the upload ends the part. */
const silentTime = 3000;
const maxEndTime = 5000; // ms for which a request waits until a part has ended
const retryAfter = 1; // seconds

/** A part of an upload that is being received, or the work of `runWithoutParts`. */
interface Writer {
  /** Time of the last bytes, in ms of a monotonic clock. Infinity: all have arrived, or none are expected. */
  lastDataAt: number;
  readonly abort: () => void;
  readonly ended: Promise<void>;
}

/** What the receiver of a part reports. */
export interface WriterReport {
  received(): void;
  /** All bytes have arrived: from now on, another request cannot end the part. */
  complete(): void;
}

/** Returns the refusal of a request about an upload that another request is sending or changing. */
export const uploadInUse = () => new Refusal('uploadInUse', undefined, { retryAfter });

/**
 * Lets this process receive one part of an upload at a time. A client that has lost its connection may send the rest over a new one before
 * the server has noticed the loss. Then the old part, whose client is silent, ends.
 */
export class UploadWriters {
  /** Claims that may still be in the database, because it did not respond when they began or ended: uploads and their tenants. */
  readonly unreleasedClaims = new Map<string, number>();
  readonly #writers = new Map<string, Writer>();
  readonly #now: () => number;

  /** @param now returns ms of a monotonic clock */
  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Receives a part.
   * @param abort ends it in favor of another request about the same upload
   * @throws Refusal (423) if another part is being received, or `runWithoutParts` is at work
   */
  async run<T>(upload: string, abort: () => void, receive: (report: WriterReport) => Promise<T>): Promise<T> {
    await this.endSilent(upload);
    return this.#hold(upload, abort, receive);
  }

  /** Runs work on an upload while no part of it is received. @throws Refusal (423) if a part is being received, or other work is running */
  runWithoutParts<T>(upload: string, work: () => Promise<T>): Promise<T> {
    return this.#hold(
      upload,
      () => {},
      ({ complete }) => {
        complete();
        return work();
      },
    );
  }

  async #hold<T>(upload: string, abort: () => void, receive: (report: WriterReport) => Promise<T>): Promise<T> {
    if (this.#writers.has(upload)) throw uploadInUse();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const writer: Writer = { lastDataAt: this.#now(), abort, ended };
    this.#writers.set(upload, writer);
    const report = {
      received: () => {
        writer.lastDataAt = this.#now();
      },
      complete: () => {
        writer.lastDataAt = Number.POSITIVE_INFINITY;
      },
    };
    try {
      return await receive(report);
    } finally {
      this.#writers.delete(upload);
      end();
    }
  }

  isReceiving(upload: string): boolean {
    return this.#writers.has(upload);
  }

  /** Ends the part that is being received if its client is silent, so that what has arrived is counted. */
  async endSilent(upload: string): Promise<void> {
    const writer = this.#writers.get(upload);
    if (writer && this.#now() - writer.lastDataAt >= silentTime) await this.end(upload);
  }

  /** Ends the part that is being received, unless all of its bytes have arrived. */
  async end(upload: string): Promise<void> {
    const writer = this.#writers.get(upload);
    if (!writer || writer.lastDataAt === Number.POSITIVE_INFINITY) return;
    writer.abort();
    await waitAtMost(writer.ended, maxEndTime);
  }
}
