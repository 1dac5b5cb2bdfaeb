import { wideNetworkOf } from '#core/client-networks.ts';
import { MemoryBudget, type MemoryReservation } from '#core/memory-budget.ts';
import { Refusal } from '#core/messages.ts';

const maxBytes = 512 << 20; // of all drawn pictures and new files that are being sent
const retryAfter = 5; // seconds

/**
 * Takes memory for bytes that were drawn for a visitor, until the caller disposes of the reservation.
 * @throws Refusal (503) if the wide network of the address would hold more than half of what the other networks leave
 */
export type DrawnMemory = (address: string, bytes: Uint8Array) => MemoryReservation;

/** Visitors who read slowly must not fill the memory. @param total bytes */
export function drawnMemory(total = maxBytes): DrawnMemory {
  const budget = new MemoryBudget(total, () => new Refusal('documentsBusy', undefined, { retryAfter }));
  return (address, bytes) => {
    const reservation = budget.of(wideNetworkOf(address)).begin();
    reservation.set(bytes.length);
    return reservation;
  };
}
