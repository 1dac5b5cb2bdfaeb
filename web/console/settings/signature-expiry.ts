import { formatCount } from '#console/components/format.ts';
import { millisecondsPerDay } from '#core/instant.ts';

const daysOfWarning = 30;

/**
 * Returns a warning if a certificate has expired, or expires in at most `daysOfWarning` days; null: it is valid for longer.
 * @param validTo null: there is no certificate
 */
export function expiryWarning(validTo: string | null, now: number): string | null {
  if (validTo === null) return null;
  const days = Math.floor((Date.parse(validTo) - now) / millisecondsPerDay);
  if (days < 0) return 'The certificate for signatures has expired';
  if (days > daysOfWarning) return null;
  const time = days === 0 ? 'within 24 hours' : `in ${formatCount(days, 'day', 'days')}`;
  return `The certificate for signatures expires ${time}`;
}
