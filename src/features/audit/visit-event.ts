import type { Outcome } from '#core/records/audit-entry.ts';
import type { LinkRow, SignedInVisitor } from '#features/links/find-link.ts';

/** An action of a visitor, before it is written to the audit log. */
export interface VisitEvent {
  readonly link: Pick<LinkRow, 'id' | 'tid' | 'title' | 'view_id' | 'notify_emails'> | null;
  readonly tid?: number;
  /** null: nobody has signed in. */
  readonly visitor: Pick<SignedInVisitor, 'name' | 'identityKey'> | null;
  /** Address and id of the request. */
  readonly visitorRequest: { readonly address: string; readonly requestId: string };
  readonly action: string;
  readonly outcome: Outcome;
  readonly path: string;
  readonly after?: object;
  /** Number in the trace marks of the files that the visitor gets. Absent: they carry none. */
  readonly traceId?: number;
}
