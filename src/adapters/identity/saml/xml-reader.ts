import { type IdleThread, idleThread } from '#adapters/os/idle-thread.ts';
import { ResponseFaulty } from '#ports/provider-errors.ts';
import type { ProviderDescription, SamlStatement } from '#ports/saml.ts';
import type { MetadataInput } from './read-metadata.ts';
import type { ResponseInput } from './read-response.ts';
import type { XmlResult, XmlTask } from './saml-thread.ts';

const timeLimit = 2000; // ms for one document
const tooMuch = 'The XML could not be read: it takes too much time or memory.';

/**
 * Reads XML in a thread, one document after the other. Ends the thread if a document takes too much time or memory: a short document
 * can keep a parser busy for seconds.
 */
export class XmlReader implements AsyncDisposable {
  #thread: IdleThread | undefined;
  #waiting: PromiseWithResolvers<unknown> | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** Reads a SAML response and verifies its signature. @throws ResponseFaulty */
  readResponse(response: ResponseInput): Promise<SamlStatement> {
    return this.#run<SamlStatement>({ response });
  }

  /** Reads the metadata of a provider. @throws ResponseFaulty */
  readMetadata(metadata: MetadataInput): Promise<ProviderDescription> {
    return this.#run<ProviderDescription>({ metadata });
  }

  async [Symbol.asyncDispose]() {
    await this.#thread?.[Symbol.asyncDispose]();
  }

  #run<T>(task: XmlTask): Promise<T> {
    const result = this.#last.then(() => this.#send<T>(task));
    this.#last = result.catch(() => {});
    return result;
  }

  async #send<T>(task: XmlTask): Promise<T> {
    const waiting = Promise.withResolvers<T>();
    const timer = setTimeout(() => this.#endThread(), timeLimit);
    this.#waiting = { ...waiting, resolve: (value) => waiting.resolve(value as T) }; // the thread answers each task with its type
    this.#thread ??= this.#startThread();
    this.#thread.post(task);
    try {
      return await waiting.promise;
    } finally {
      clearTimeout(timer);
      this.#waiting = undefined;
      this.#thread?.startIdleTimer();
    }
  }

  #startThread(): IdleThread {
    const thread: IdleThread = idleThread<XmlResult>('./saml-thread', import.meta.url, {
      receive: (result) => {
        if ('value' in result) this.#waiting?.resolve(result.value);
        else this.#waiting?.reject(new ResponseFaulty(result.refusal));
      },
      rejectPending: () => {
        if (this.#thread === thread) this.#waiting?.reject(new ResponseFaulty(tooMuch)); // not the document of a later thread
      },
      isIdle: () => this.#waiting === undefined,
    });
    return thread;
  }

  #endThread(): void {
    const ended = this.#thread;
    this.#thread = undefined; // the next document gets another thread
    void ended?.[Symbol.asyncDispose]();
    this.#waiting?.reject(new ResponseFaulty(tooMuch));
  }
}
