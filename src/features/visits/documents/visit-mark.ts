import { formatDay } from '#core/instant.ts';
import { watermarkText } from '#core/watermark-text.ts';
import { traceIdOf } from '#features/audit/trace-id.ts';
import type { VisitEvent } from '#features/audit/visit-event.ts';
import type { AuthorizedVisit } from '#features/visits/authorization/authorize-visit.ts';
import type { PageMark } from '#ports/documents.ts';
import type { Ports } from '#ports/ports.ts';

/** Returns what is drawn over the pages that a visitor gets. @param event what the audit log records about this view or download */
export function markOf(
  { vault, clock }: Pick<Ports, 'vault' | 'clock'>,
  { permit, authenticated, visitorRequest }: AuthorizedVisit,
  event: VisitEvent,
): PageMark {
  const now = clock.now();
  const { name = '', email = '' } = authenticated?.signedIn ?? {};
  const date = formatDay(now);
  const text = watermarkText(permit.share.waterMarkText, { user: name, email, address: visitorRequest.address, date });
  return { text, traceId: traceIdOf(vault, event, now) };
}
