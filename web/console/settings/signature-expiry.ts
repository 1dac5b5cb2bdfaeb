import { millisecondsPerDay } from '#core/instant.ts';

const daysOfWarning = 30;

/**
 * Returns a sentence if a certificate has expired or will soon; null: it is valid for longer.
 * @param validTo null: there is no certificate
 */
export function expiryWarning(validTo: string | null, now: number): string | null {
  if (validTo === null) return null;
  const days = Math.floor((Date.parse(validTo) - now) / millisecondsPerDay);
  if (days < 0) return 'The certificate for signatures has expired';
  if (days > daysOfWarning) return null;
  return days === 0 ? 'The certificate for signatures expires today' : `The certificate for signatures expires in ${days} days`;
}
