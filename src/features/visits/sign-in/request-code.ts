import type { CodeUse } from '#core/mail/code-mail.ts';
import { Refusal } from '#core/messages.ts';
import type { CodeRequestBody } from '#core/records/visit.ts';
import { languageOf } from '#core/translations/languages.ts';
import type { AuthorizationPorts, VisitorRequest } from '#features/visits/authorization/authorize-visit.ts';
import type { VisitServices } from '#features/visits/authorization/visit-services.ts';
import type { Ports } from '#ports/ports.ts';
import type { SignInKind } from '#ports/sign-in.ts';
import { findSignInPlace } from './sign-in-place.ts';
import { parseVisitorEmail, signInKindOf } from './verify-credentials.ts';

const browserBits = 256;

type RequestPorts = AuthorizationPorts & Pick<Ports, 'random' | 'links'> & Pick<VisitServices, 'newCodes' | 'codes'>;

export interface VisitorCodeRequest {
  readonly use: CodeUse;
  readonly body: CodeRequestBody;
  /** Languages that the browser prefers. */
  readonly languages: readonly string[];
  /** Token in the cookie of the browser; null: it has none yet. */
  readonly browser: string | null;
}

/** Returns the sender of the codes of a kind of sign-in. @throws Refusal (400) if the kind sends no codes for this use */
function codeSender({ code, password }: SignInKind, use: CodeUse) {
  const sender = use === 'signIn' ? code : password?.reset;
  if (sender) return sender;
  const detail = {
    signIn: 'This link does not send codes: it uses another sign-in method.',
    newPassword: 'This link does not send codes for a new password: ask the person who sent you the link.',
  }[use];
  throw new Refusal('requestMalformed', detail);
}

/**
 * Enqueues a mail with a code. Does the same and sends the same response for every address, so that nobody learns which ones may sign in.
 * @param setCookie called with the token of the browser
 * @throws Refusal (400) if the address is malformed, or the link sends no such code; (403, 404, 410, 429); (503) if no mail can be sent,
 *   or too many requests wait
 */
export async function requestVisitorCode(
  ports: RequestPorts,
  visitorRequest: VisitorRequest,
  at: 'share' | 'portal',
  { use, body, languages, browser }: VisitorCodeRequest,
  setCookie: (token: string) => void,
): Promise<void> {
  const email = parseVisitorEmail(body.email);
  const { profile, link, pageUrl } = await findSignInPlace(ports, visitorRequest, at);
  const sender = codeSender(signInKindOf(ports, profile), use);
  const { viewId, address } = visitorRequest;
  const token = browser ?? ports.random.token(browserBits);
  const language = languageOf([profile.lang, ...languages]);
  const shareId = link?.id ?? null;
  // Beyond the limit, sends no mail. The response is the same, so that it does not reveal the requests of others in this network.
  if (ports.newCodes.admit(address, profile.profile_id))
    await ports.codes.run(address, () => sender.request(profile, { email, pageUrl, shareId, language, address, browser: token, viewId }));
  setCookie(token);
}
