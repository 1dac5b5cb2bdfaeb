import type { Refusal } from '#core/messages.ts';

/** Returns what the entry of a refused action says: its message, and the reason that only operators see. */
export const refusalDetails = ({ messageName, extras: { forOperator } }: Refusal): object => ({
  because: messageName,
  ...(forOperator === undefined ? {} : { reason: forOperator }),
});
