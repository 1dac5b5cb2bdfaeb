import { millisecondsPerDay } from '#core/instant.ts';
import { codeLifetime } from '#core/sign-in-codes.ts';

/** Time in ms after which an alert or an invitation that was not sent is given up: later, it would only confuse its recipient. */
export const maxDeliveryAge = 3 * millisecondsPerDay;

/** Time in ms after which the mails of each lane are given up. */
export const maxAgeOf = { alerts: maxDeliveryAge, codes: codeLifetime } as const;
