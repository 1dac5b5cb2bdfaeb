import { monotonicTime } from './monotonic-time.ts';

/** Time within which a confirmed change must be made, in ms: after a longer wait, another process may have recovered it. */
const maxConfirmationAge = 10_000;

/** When a change was confirmed, by `monotonicTime`; null: it needs no confirmation. */
export type ConfirmedAt = number | null;

/** Returns whether the confirmation of a change is too old. The change must then be confirmed again before it is made. */
export const hasExpired = (confirmedAt: ConfirmedAt): boolean => confirmedAt !== null && monotonicTime() - confirmedAt > maxConfirmationAge;
