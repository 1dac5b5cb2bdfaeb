import { watermarkText } from '#core/watermark-text.ts';
import type { AuthorizedVisit } from '#features/visits/authorization/authorize-visit.ts';

const dayLength = 10; // characters of a day in ISO 8601

/** Returns the text of the watermark for a visit. @param now ms since the epoch */
export function markOf({ permit, authenticated, visitorRequest }: AuthorizedVisit, now: number): string {
  const { name = '', email = '' } = authenticated?.signedIn ?? {};
  const date = new Date(now).toISOString().slice(0, dayLength);
  return watermarkText(permit.share.waterMarkText, { user: name, email, address: visitorRequest.address, date });
}
