// The script of the threads that read XML from providers, and from anyone who posts a response.
import { parentPort } from 'node:worker_threads';
import { type MetadataInput, readMetadata } from './read-metadata.ts';
import { type ResponseInput, readResponse } from './read-response.ts';

/** What the thread reads. */
export type XmlTask = { readonly response: ResponseInput } | { readonly metadata: MetadataInput };

/** What the thread has read, or why it has refused the document. */
export type XmlResult = { readonly value: unknown } | { readonly refusal: string };

const maxRefusal = 500; // characters

async function run(task: XmlTask): Promise<XmlResult> {
  try {
    return { value: 'response' in task ? await readResponse(task.response) : readMetadata(task.metadata) };
  } catch (cause) {
    // The message may contain text from outside, so it becomes one line without control characters.
    const text = cause instanceof Error ? cause.message : String(cause);
    return { refusal: text.replace(/[\p{C}\s]+/gu, ' ').slice(0, maxRefusal) };
  }
}

parentPort?.on('message', async (task: XmlTask) => parentPort?.postMessage(await run(task)));
