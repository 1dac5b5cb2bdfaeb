import { portalUrl, shareUrl } from '#core/link.ts';
import type { LinkRow } from '#features/links/find-link.ts';
import { type AuthorizationPorts, authorizeVisit, type VisitorRequest } from '#features/visits/authorization/authorize-visit.ts';
import { accessPortal } from '#features/visits/authorization/portal.ts';
import type { Ports } from '#ports/ports.ts';
import type { ProfileRef } from '#ports/sign-in.ts';

/** The share or the portal where a visitor wants to sign in. */
export interface SignInPlace {
  readonly profile: ProfileRef & Pick<LinkRow, 'lang'>;
  /** null: a portal. */
  readonly link: LinkRow | null;
  /** Address of the page at which the visitor signs in. */
  readonly pageUrl: string;
}

/** Returns the request without credentials, as if the visitor had not signed in. */
export const withoutCredentials = (visitorRequest: VisitorRequest): VisitorRequest => ({
  ...visitorRequest,
  credentials: { basic: null, session: () => null },
});

/** Returns the share or the portal of a request. Ignores who has signed in there. @throws Refusal (403, 404, 410, 429) */
export async function findSignInPlace(
  ports: AuthorizationPorts & Pick<Ports, 'links'>,
  visitorRequest: VisitorRequest,
  at: 'share' | 'portal',
): Promise<SignInPlace> {
  const { viewId } = visitorRequest;
  const publicUrl = ports.links.publicUrl();
  if (at === 'portal') {
    const { profile } = await accessPortal(ports, visitorRequest);
    return { profile, link: null, pageUrl: portalUrl(publicUrl, viewId) };
  }
  const { link } = await authorizeVisit(ports, withoutCredentials(visitorRequest), { action: 'signIn' });
  return { profile: link, link, pageUrl: shareUrl(publicUrl, viewId) };
}
