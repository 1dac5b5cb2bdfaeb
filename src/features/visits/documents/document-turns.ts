import { MemoryBudget, type MemoryReservation } from '#core/memory-budget.ts';
import { Refusal } from '#core/messages.ts';
import { turnsByKey } from '#features/turns/turns.ts';
import { largeGroupsOf, type TurnVisitor, turnGroupsOf } from '#features/turns/visitor-turns.ts';
import { waitingLimit } from '#features/turns/waiting-limit.ts';
import { succeedsInTime } from '#features/visits/files/pause.ts';

interface DocumentLimits {
  /** How many documents of one tenant are processed at once: in all, and for one link (level 0 of the groups). */
  readonly concurrency: number;
  readonly concurrencyOfGroup: { readonly level: number; readonly max: number };
  /** Bytes of the documents of all tenants that are processed at once. Each has up to 64 MiB (`maxDocumentBytes` of source-document.ts). */
  readonly memory: number;
}

/** Documents that are read and drawn. */
const ofDocuments: DocumentLimits = { concurrency: 4, concurrencyOfGroup: { level: 0, max: 2 }, memory: 512 << 20 };
/** Office documents are converted, or wait for that, which may take many seconds. */
const ofOffice: DocumentLimits = { concurrency: 4, concurrencyOfGroup: { level: 0, max: 1 }, memory: 512 << 20 };
const maxWaiting = { inner: 64, all: 512 };
const retryAfter = 2; // seconds
/** Between two attempts to take memory. */
const waits = { first: 100, longest: 100, maxWait: 60_000 };

/** A visitor who requests a document, and the tenant of the link. */
export type DocumentVisitor = TurnVisitor & { readonly tid: number };

/** Waits until there is memory for the bytes of a document, and takes it until the end of the turn. @throws Refusal (503) */
export type TakeMemory = (bytes: number) => Promise<void>;

/**
 * Runs work on a document, in turns (see `turnGroupsOf`). Each tenant has turns of its own, because the storage of a tenant, or its
 * time-stamp authority, may hang during a turn. Tenants share only the memory.
 * @throws Refusal (503) if too many wait; the reason of `clientGone`
 */
export type DocumentTurns = <T>(
  visitor: DocumentVisitor,
  clientGone: AbortSignal,
  work: (takeMemory: TakeMemory) => Promise<T>,
) => Promise<T>;

const refusal = () => new Refusal('documentsBusy', undefined, { retryAfter });

/** @throws Refusal (503) if there is no memory for a long time; the reason of `clientGone` */
async function waitForMemory(reservation: MemoryReservation, bytes: number, clientGone: AbortSignal): Promise<void> {
  const take = async () => {
    clientGone.throwIfAborted();
    return reservation.trySet(bytes);
  };
  if (!(await succeedsInTime(take, waits))) throw refusal();
}

function turnsOf({ memory, ...limits }: DocumentLimits): DocumentTurns {
  const budget = new MemoryBudget(memory, refusal);
  const turnsOfTenant = turnsByKey({ ...limits, maxWaiting, refusal }, waitingLimit(maxWaiting, refusal));
  return (visitor, clientGone, work) => {
    const tenant = `tenant ${visitor.tid}`;
    const inTurn = async () => {
      using reservation = budget.of(visitor.tid).begin();
      return await work((bytes) => waitForMemory(reservation, bytes, clientGone));
    };
    return turnsOfTenant(tenant, (turns) => turns.run(turnGroupsOf(visitor), clientGone, inTurn, [tenant, ...largeGroupsOf(visitor)]));
  };
}

export const documentTurns = (): DocumentTurns => turnsOf(ofDocuments);

/** The turns of Office documents: other documents do not wait for them. */
export const officeTurns = (): DocumentTurns => turnsOf(ofOffice);
