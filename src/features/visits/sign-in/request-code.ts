import { portalUrl, shareUrl } from '#core/link.ts';
import { Refusal } from '#core/messages.ts';
import type { CodeRequestBody } from '#core/records/visit.ts';
import { languageOf } from '#core/translations/languages.ts';
import { type AuthorizationPorts, authorizeVisit, type VisitorRequest } from '#features/visits/authorization/authorize-visit.ts';
import { accessPortal } from '#features/visits/authorization/portal.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import type { Ports } from '#ports/ports.ts';
import { parseVisitorEmail, signInKindOf } from './verify-credentials.ts';

const browserBits = 256;

type RequestPorts = AuthorizationPorts & Pick<Ports, 'random' | 'links'> & Pick<VisitServices, 'newCodes' | 'codes'>;

/** A visitor's request for a code. */
export interface CodeDemand {
  readonly body: CodeRequestBody;
  /** Languages that the browser prefers. */
  readonly languages: readonly string[];
  /** Token in the cookie of the browser; null: it has none yet. */
  readonly browser: string | null;
}

/** Returns the share or the portal where the code is requested. @throws Refusal (403, 404, 410) */
async function findPlace(ports: RequestPorts, visitorRequest: VisitorRequest, at: 'share' | 'portal') {
  const { viewId } = visitorRequest;
  const publicUrl = ports.links.publicUrl();
  if (at === 'portal') {
    const { profile } = await accessPortal(ports, visitorRequest);
    return { profile, shareId: null, pageUrl: portalUrl(publicUrl, viewId) };
  }
  const anonymousRequest = { ...visitorRequest, credentials: { basic: null, session: () => null } };
  const { link } = await authorizeVisit(ports, anonymousRequest, { action: 'signIn' });
  return { profile: link, shareId: link.id, pageUrl: shareUrl(publicUrl, viewId) };
}

/**
 * Plans the mail with a sign-in code. Does the same and responds alike for every address, so that nobody learns which ones may sign in.
 * @param setCookie called with the token of the browser
 * @throws Refusal (400) if the link needs no code; (403, 404, 410); (503) if no mail can be sent, or too many requests wait
 */
export async function requestSignInCode(
  ports: RequestPorts,
  visitorRequest: VisitorRequest,
  at: 'share' | 'portal',
  { body, languages, browser }: CodeDemand,
  setCookie: (token: string) => void,
): Promise<void> {
  const email = parseVisitorEmail(body.email);
  const { profile, shareId, pageUrl } = await findPlace(ports, visitorRequest, at);
  const { code } = signInKindOf(ports, profile);
  if (!code) throw new Refusal('requestMalformed', 'This link does not send codes: visitors sign in in another way.');
  const { viewId, address } = visitorRequest;
  const token = browser ?? ports.random.token(browserBits);
  const language = languageOf([profile.lang, ...languages]);
  // Beyond the limit, the response is the same: it would tell others about the requests of this network.
  if (ports.newCodes.admit(address, profile.profile_id))
    await ports.codes.run(address, () => code.request(profile, { email, pageUrl, shareId, language, address, browser: token, viewId }));
  setCookie(token);
}
