import type { Refusal } from '#core/messages.ts';

/** Returns what an audit entry says about a refusal: its message, and the reason that only operators see. */
export const refusalDetails = ({ messageName, extras: { forOperator } }: Refusal): object => ({
  because: messageName,
  ...(forOperator === undefined ? {} : { reason: forOperator }),
});
