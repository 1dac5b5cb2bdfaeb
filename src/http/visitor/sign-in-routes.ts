import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { wideNetworkOf } from '#core/client-networks.ts';
import { fieldRefusal } from '#core/messages.ts';
import { maxPortalPageSize } from '#core/portal-page-size.ts';
import { CodeRequestBody, PasswordChangeBody, PasswordResetBody, type PortalVisit, SignInBody } from '#core/records/visit.ts';
import { visitPortal } from '#features/visits/authorization/portal.ts';
import type { PortalPageRequest } from '#features/visits/authorization/portal-shares.ts';
import { visitShare } from '#features/visits/authorization/visit-share.ts';
import { changeOwnPassword } from '#features/visits/sign-in/change-password.ts';
import { requestVisitorCode, type VisitorCodeRequest } from '#features/visits/sign-in/request-code.ts';
import { type ResetRequest, resetForgottenPassword } from '#features/visits/sign-in/reset-password.ts';
import { type SignInRequest, signInAtPortal, signInAtShare, signOut } from '#features/visits/sign-in/sign-in.ts';
import { disconnectSignal } from '#http/connections/disconnect.ts';
import { preferencesOf } from '#http/content-negotiation.ts';
import { unreadResponses } from '#http/unread-responses.ts';
import { readQuery, validator } from '#http/validation.ts';
import { providerRoutes } from './provider-routes.ts';
import { samlRoutes } from './saml-routes.ts';
import { testSignInRoutes } from './test-sign-in-routes.ts';
import { browserToken, clearSessionCookie, setBrowserToken, setSessionCookie } from './visitor-cookies.ts';
import { type VisitorParts, visitorRequestOf } from './visitor-request.ts';

/** Maximum bytes of portal responses that visitors have not read yet. One wide network cannot use the entire limit of a portal. */
const maxUnreadBytes = { wideNetwork: 8 << 20, portal: 16 << 20, all: 48 << 20 };

const PortalQuery = Type.Object(
  {
    startIndex: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
    pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: maxPortalPageSize })),
  },
  { additionalProperties: false },
);
const checkPortal = validator(PortalQuery);

function parsePortalPage(url: string): PortalPageRequest {
  const query = readQuery(url, PortalQuery);
  checkPortal(query);
  const { startIndex = 0, pageSize = maxPortalPageSize } = query as Static<typeof PortalQuery>; // validated above
  return { startIndex, pageSize };
}

const checkSignIn = validator(SignInBody);
const checkPasswords = validator(PasswordChangeBody);

/** Checks that a body has a password, or an e-mail address and a code. @throws Refusal (400) that names the missing field */
function checkComplete({ password, email, code }: SignInBody): void {
  if (password !== undefined) return;
  if (email === undefined && code === undefined)
    throw fieldRefusal('password', 'is required, or email and code at a link that sends codes');
  if (email === undefined) throw fieldRefusal('email', 'is required');
  if (code === undefined) throw fieldRefusal('code', 'is required');
}

function parseSignIn(request: FastifyRequest, { ports }: VisitorParts): SignInRequest {
  const body = request.body ?? {};
  checkSignIn(body);
  const signIn = body as SignInBody; // validated above
  checkComplete(signIn);
  return { body: signIn, browser: browserToken(request, ports.links.publicUrl()) };
}

const checkCodeRequest = validator(CodeRequestBody);

function parseCodeRequest(request: FastifyRequest, { ports }: VisitorParts): Omit<VisitorCodeRequest, 'use'> {
  const body = request.body ?? {};
  checkCodeRequest(body);
  const browser = browserToken(request, ports.links.publicUrl());
  return { body: body as CodeRequestBody, languages: preferencesOf(request).languages(), browser }; // validated above
}

const checkReset = validator(PasswordResetBody);

function parseReset(request: FastifyRequest, { ports }: VisitorParts): ResetRequest {
  const body = request.body ?? {};
  checkReset(body);
  return { body: body as PasswordResetBody, browser: browserToken(request, ports.links.publicUrl()) }; // validated above
}

function parsePasswords({ body }: FastifyRequest): PasswordChangeBody {
  checkPasswords(body ?? {});
  return body as PasswordChangeBody; // validated above
}

const cookieSetter =
  ({ ports }: VisitorParts, request: FastifyRequest, reply: FastifyReply) =>
  (session: { profileId: number; token: string }) =>
    setSessionCookie(request, reply, ports.store, ports.links.publicUrl(), session);

/** Adds the routes to visit a share's link and to sign in there. */
function shareRoutes(app: FastifyInstance, parts: VisitorParts): void {
  const { ports } = parts;
  app.get('/s/:viewId/visit', (request) => visitShare(ports, visitorRequestOf(request, parts)));
  app.post('/s/:viewId/sign-in', (request, reply) =>
    signInAtShare(ports, visitorRequestOf(request, parts), parseSignIn(request, parts), cookieSetter(parts, request, reply)),
  );
}

/** Adds the routes to visit a portal and to sign in there. Their responses list the visitor's shares. */
function portalRoutes(app: FastifyInstance, parts: VisitorParts): void {
  const { ports } = parts;
  const unread = unreadResponses(maxUnreadBytes);
  /** Serializes the response here to know its length: the text stays in memory until the visitor has read it. */
  const sendPortal = (request: FastifyRequest, reply: FastifyReply, portal: PortalVisit) => {
    const text = JSON.stringify(portal);
    unread.hold({ wideNetwork: wideNetworkOf(request.ip), portal: request.linkItem.viewId }, Buffer.byteLength(text), reply.raw);
    return reply.type('application/json; charset=utf-8').send(text);
  };
  app.get('/p/:viewId/visit', async (request, reply) => {
    const page = { page: parsePortalPage(request.url), clientGone: disconnectSignal(reply.raw) };
    return sendPortal(request, reply, await visitPortal(ports, visitorRequestOf(request, parts), page));
  });
  app.post('/p/:viewId/sign-in', async (request, reply) => {
    const setCookie = cookieSetter(parts, request, reply);
    const portal = await signInAtPortal(ports, visitorRequestOf(request, parts), parseSignIn(request, parts), setCookie);
    return sendPortal(request, reply, portal);
  });
}

/** Adds the routes to request a code, to change or reset a password, and to sign out, at a share or a portal. */
function accountRoutes(app: FastifyInstance, parts: VisitorParts, at: 'share' | 'portal'): void {
  const { ports } = parts;
  const base = at === 'share' ? '/s/:viewId' : '/p/:viewId';
  const codeRoutes = { [`${base}/sign-in/code`]: 'signIn', [`${base}/password/code`]: 'newPassword' } as const;
  for (const [address, use] of Object.entries(codeRoutes))
    app.post(address, async (request, reply) => {
      const codeRequest = { ...parseCodeRequest(request, parts), use };
      const setCookie = (token: string) => setBrowserToken(reply, ports.links.publicUrl(), token);
      await requestVisitorCode(ports, visitorRequestOf(request, parts), at, codeRequest, setCookie);
      return reply.code(202).send();
    });
  app.post(`${base}/password/reset`, async (request, reply) => {
    const reset = parseReset(request, parts);
    await resetForgottenPassword(ports, visitorRequestOf(request, parts), at, reset, cookieSetter(parts, request, reply));
    return reply.code(204).send();
  });
  app.post(`${base}/password`, async (request, reply) => {
    const passwords = parsePasswords(request);
    await changeOwnPassword(ports, visitorRequestOf(request, parts), at, passwords, cookieSetter(parts, request, reply));
    return reply.code(204).send();
  });
  app.post(`${base}/sign-out`, async (request, reply) => {
    const { profileId, providerUrl } = await signOut(ports, visitorRequestOf(request, parts), at);
    clearSessionCookie(reply, ports.links.publicUrl(), profileId);
    return providerUrl === null ? reply.code(204).send() : reply.send({ url: providerUrl });
  });
}

/** Adds the routes with which visitors sign in, see what they may do, change passwords and sign out, and the routes of providers. */
export function signInRoutes(app: FastifyInstance, parts: VisitorParts): void {
  shareRoutes(app, parts);
  portalRoutes(app, parts);
  accountRoutes(app, parts, 'share');
  accountRoutes(app, parts, 'portal');
  providerRoutes(app, parts);
  samlRoutes(app, parts);
  testSignInRoutes(app, parts);
}
