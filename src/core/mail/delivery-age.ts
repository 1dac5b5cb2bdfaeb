import { millisecondsPerDay } from '#core/instant.ts';

/** Time after which a mail that could not be sent is given up: it would only puzzle its recipient. */
export const maxDeliveryAge = 3 * millisecondsPerDay;
