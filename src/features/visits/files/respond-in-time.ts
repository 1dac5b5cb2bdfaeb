import { Refusal } from '#core/messages.ts';
import { waitAtMost } from '#core/time-limit.ts';

/**
 * Waits for a change for a limited time. After that, the change goes on, and its outcome is recorded when the storage responds.
 * @param limit ms
 * @throws Refusal (503) if the storage does not respond in time
 */
export async function respondInTime<T>(change: Promise<T>, limit: number): Promise<T> {
  const result = await waitAtMost(change, limit);
  if (!result.late) return result.value;
  throw new Refusal(
    'storageAway',
    'The storage does not respond. The change may still take place: look at the folder before you repeat it.',
  );
}
