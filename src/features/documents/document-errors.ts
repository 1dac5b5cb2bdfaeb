import { Refusal } from '#core/messages.ts';
import { DocumentUnusable, RendererUnavailable } from '#ports/documents.ts';

const retryAfter = 10; // seconds

const reasons = {
  damaged: 'The file is damaged, or its format is not supported.',
  encrypted: 'The file is encrypted.',
  certified: 'A signature in the file forbids every change.',
  needsLibreOffice: 'This server does not show Office documents.',
};

type UnusableName = 'hasNoPages' | 'cannotBeMarked' | 'cannotBeSigned';

function refusalOf(cause: unknown, unusable: UnusableName): unknown {
  if (cause instanceof RendererUnavailable) return new Refusal('documentsBusy', undefined, { retryAfter });
  if (!(cause instanceof DocumentUnusable)) return cause;
  if (cause.problem === 'noSuchPage') return new Refusal('pageAbsent');
  if (cause.problem === 'tooCostly') return new Refusal('documentTooLarge');
  return new Refusal(unusable, reasons[cause.problem]);
}

/**
 * Runs work on a document.
 * @param unusable the refusal if the document cannot be drawn, marked or signed
 * @throws Refusal (403, 404, 413, 415, 503) for an error of the renderer
 */
export async function withDocumentErrors<T>(unusable: UnusableName, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw refusalOf(cause, unusable);
  }
}
