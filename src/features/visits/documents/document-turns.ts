import { Refusal } from '#core/messages.ts';
import { type Turns, turns } from '#features/turns/turns.ts';
import { largeGroupsOf, type TurnVisitor, turnGroupsOf } from '#features/turns/visitor-turns.ts';

/** How many documents are processed at once: in all, and for one link (level 0 of the groups). */
interface Concurrency {
  readonly concurrency: number;
  readonly concurrencyOfGroup: { readonly level: number; readonly max: number };
}

/** Documents that are read and drawn. Each has up to 64 MiB (`maxDocumentBytes` of source-document.ts). */
const ofDocuments: Concurrency = { concurrency: 4, concurrencyOfGroup: { level: 0, max: 2 } };
/** Office documents are converted, or wait for that, which may take many seconds. */
const ofOffice: Concurrency = { concurrency: 6, concurrencyOfGroup: { level: 0, max: 1 } };
const maxWaiting = { inner: 64, all: 512 };
const retryAfter = 2; // seconds

/** Runs work on a document, in turns (see `turnGroupsOf`). @throws Refusal (503) if too many wait; the reason of `clientGone` */
export type DocumentTurns = <T>(visitor: TurnVisitor, clientGone: AbortSignal, work: () => Promise<T>) => Promise<T>;

function turnsOf(limits: Concurrency): DocumentTurns {
  const inTurn: Turns = turns({ ...limits, maxWaiting, refusal: () => new Refusal('documentsBusy', undefined, { retryAfter }) });
  return (visitor, clientGone, work) => inTurn.run(turnGroupsOf(visitor), clientGone, work, largeGroupsOf(visitor));
}

export const documentTurns = (): DocumentTurns => turnsOf(ofDocuments);

/** The turns of Office documents: other documents do not wait for them. */
export const officeTurns = (): DocumentTurns => turnsOf(ofOffice);
