import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { Refusal } from '#core/messages.ts';
import { PasswordChangeBody, type PortalVisit, SignInBody } from '#core/records/visit.ts';
import { wideNetworkOf } from '#features/turns/visitor-turns.ts';
import { hasSignedIn } from '#features/visits/authorization/authorize-visit.ts';
import { hasSignedInAtPortal, maxPortalPageSize, visitPortal } from '#features/visits/authorization/portal.ts';
import type { PortalPageRequest } from '#features/visits/authorization/portal-shares.ts';
import { visitShare } from '#features/visits/authorization/visit-share.ts';
import { mayHaveSignedIn } from '#features/visits/sessions/may-have-signed-in.ts';
import { changeOwnPassword } from '#features/visits/sign-in/change-password.ts';
import { signInAtPortal, signInAtShare, signOut } from '#features/visits/sign-in/sign-in.ts';
import { maxPublicBodyBytes } from '#http/body-limits.ts';
import { disconnectSignal } from '#http/connections/disconnect.ts';
import { checkSite, hostCheck } from '#http/own-site.ts';
import { pageRoutes } from '#http/pages/page-routes.ts';
import { asRefusal, isAbandoned, pathOf, unexpectedRefusal } from '#http/problem.ts';
import { unreadResponses } from '#http/unread-responses.ts';
import { NoParameters, readQuery, validator } from '#http/validation.ts';
import { fileRoutes } from './file-routes.ts';
import { clearSessionCookie, sessionTokens, setSessionCookie } from './visitor-cookies.ts';
import { parsePaths, type VisitorParts, visitorRequestOf } from './visitor-request.ts';
import { linkHeaders, sendVisitorProblem } from './visitor-responses.ts';

/** Maximum bytes of portal responses that visitors have not read yet. One network cannot use the entire limit of a portal. */
const maxUnreadBytes = { network: 12 << 20, portal: 32 << 20, all: 128 << 20 };

const checkNoQuery = validator(NoParameters);
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

/** Refuses a network that tries unknown links, unless the visitor has signed in at this link. @throws `refusal` */
async function checkSignedIn(request: FastifyRequest, parts: VisitorParts, refusal: Refusal): Promise<void> {
  const visitor = { ...visitorRequestOf(request, parts), checkNetwork: () => {} };
  const { basic } = visitor.credentials;
  if (request.headers.cookie === undefined && basic === null) throw refusal;
  const [at, signedIn] = isPortal(request.url) ? (['portal', hasSignedInAtPortal] as const) : (['share', hasSignedIn] as const);
  const mayVerify = () => basic !== null && parts.unknownLinks.mayVerify(visitor.address);
  const tokens = [...sessionTokens(request, parts.ports.links.publicUrl()).values()];
  const mayHave = await parts.refusedLookups.run(visitor, () => mayHaveSignedIn(parts.ports, { ...visitor, tokens }, at), refusal);
  const hasSession = mayHave && (await signedIn(parts.ports, visitor, false));
  request.exempt = hasSession || (mayVerify() && (await signedIn(parts.ports, visitor, true)));
  if (!request.exempt) throw refusal;
}

function signRoutes(app: FastifyInstance, parts: VisitorParts): void {
  const { ports } = parts;
  const checkBody = validator(SignInBody);
  const checkPasswords = validator(PasswordChangeBody);
  const parseSignIn = (request: FastifyRequest): SignInBody => {
    checkBody(request.body ?? {});
    return request.body as SignInBody; // validated above
  };
  const setCookie = (request: FastifyRequest, reply: FastifyReply) => (session: { profileId: number; token: string }) =>
    setSessionCookie(request, reply, ports.store, ports.links.publicUrl(), session);
  const endSession = async (request: FastifyRequest, reply: FastifyReply, at: 'share' | 'portal') => {
    clearSessionCookie(reply, ports.links.publicUrl(), await signOut(ports, visitorRequestOf(request, parts), at));
    return reply.code(204).send();
  };
  app.get('/s/:viewId/visit', (request) => visitShare(ports, visitorRequestOf(request, parts)));
  const unread = unreadResponses(maxUnreadBytes);
  /** Serializes the response here to count its bytes: they stay in memory until the visitor has read them. */
  const sendPortal = (request: FastifyRequest, reply: FastifyReply, portal: PortalVisit) => {
    const text = JSON.stringify(portal);
    unread.hold({ network: wideNetworkOf(request.ip), portal: request.place.viewId }, text.length, reply.raw);
    return reply.type('application/json; charset=utf-8').send(text);
  };
  app.get('/p/:viewId/visit', async (request, reply) => {
    const page = { page: parsePortalPage(request.url), clientGone: disconnectSignal(reply.raw) };
    return sendPortal(request, reply, await visitPortal(ports, visitorRequestOf(request, parts), page));
  });
  app.post('/s/:viewId/sign-in', (request, reply) =>
    signInAtShare(ports, visitorRequestOf(request, parts), parseSignIn(request), setCookie(request, reply)),
  );
  app.post('/p/:viewId/sign-in', async (request, reply) =>
    sendPortal(
      request,
      reply,
      await signInAtPortal(ports, visitorRequestOf(request, parts), parseSignIn(request), setCookie(request, reply)),
    ),
  );
  const changePassword = async (request: FastifyRequest, reply: FastifyReply, at: 'share' | 'portal') => {
    checkPasswords(request.body ?? {});
    const passwords = request.body as PasswordChangeBody; // validated above
    await changeOwnPassword(ports, visitorRequestOf(request, parts), at, passwords, setCookie(request, reply));
    return reply.code(204).send();
  };
  app.post('/s/:viewId/password', (request, reply) => changePassword(request, reply, 'share'));
  app.post('/p/:viewId/password', (request, reply) => changePassword(request, reply, 'portal'));
  app.post('/s/:viewId/sign-out', (request, reply) => endSession(request, reply, 'share'));
  app.post('/p/:viewId/sign-out', (request, reply) => endSession(request, reply, 'portal'));
  app.register(async (scope) => {
    // Kinds of sign-in that a later issue adds. Their bodies are not read.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', async () => undefined);
    const unavailable = async () => {
      throw new Refusal('signInUnavailable');
    };
    for (const at of ['s', 'p']) {
      scope.post(`/${at}/:viewId/sign-in/code`, unavailable);
      scope.get(`/${at}/:viewId/sign-in/start`, unavailable);
    }
    scope.get('/sign-in/oidc', unavailable);
    scope.post('/sign-in/saml', unavailable);
    scope.get('/sign-in/saml/metadata', unavailable);
  });
}

/** Methods that each address of a link accepts, for 405. */
const allowedMethods: readonly (readonly [RegExp, string])[] = [
  [/^\/([sp]\/[^/]+)?$/, 'GET, HEAD'],
  [/^\/[sp]\/[^/]+\/visit$/, 'GET, HEAD'],
  [/^\/[sp]\/[^/]+\/(sign-(in|out)|password)$/, 'POST'],
  [/^\/s\/[^/]+\/(list|zip)(\/|$)/, 'GET, HEAD'],
  [/^\/s\/[^/]+\/view(\/|$)/, 'GET, HEAD'],
  [/^\/s\/[^/]+\/file(\/|$)/, 'GET, HEAD, PUT, DELETE'],
  [/^\/s\/[^/]+\/(folder|rename)(\/|$)/, 'POST'],
];

function notFound(request: FastifyRequest): Refusal {
  const allow = allowedMethods.find(([pattern]) => pattern.test(pathOf(request.url)))?.[1];
  if (allow !== undefined && !allow.split(', ').includes(request.method))
    return new Refusal('methodWrong', `This address accepts only ${allow}.`, { allow });
  return new Refusal('notFound');
}

const isPortal = (url: string) => url.startsWith('/p/');
const isPage = (url: string) => /^\/[sp]\/[^/]+\/?$/.test(pathOf(url));
const readsQuery = (url: string) => isPage(url) || /^\/(s\/[^/]+\/(list|zip)(\/|$)|p\/[^/]+\/visit$)/.test(pathOf(url));

/** Adds every route of links and portals. */
export function visitorRoutes(app: FastifyInstance, parts: VisitorParts): void {
  const { ports, unknownLinks } = parts;
  const checkHost = hostCheck(ports.links.publicUrl);
  app.register(async (link) => {
    link.addHook('onRoute', (route) => {
      route.bodyLimit = maxPublicBodyBytes;
    });
    link.addHook('onRequest', (request, reply, done) => {
      reply.headers(linkHeaders);
      checkHost(request);
      if (request.is404) throw notFound(request);
      done();
    });
    parsePaths(link);
    link.addHook('onRequest', (request, _reply, done) => {
      if (request.url.includes('?') && !readsQuery(request.url)) checkNoQuery(readQuery(request.url, NoParameters));
      if (!request.url.startsWith('/sign-in/saml')) checkSite(request, ports.links.publicUrl());
      const refusal = unknownLinks.refusal(request.ip);
      if (!refusal) return done();
      checkSignedIn(request, parts, refusal).then(() => done(), done);
    });
    link.setErrorHandler((error, request, reply) => {
      if (isAbandoned(error, request)) return void reply.hijack();
      const refusal = asRefusal(error, request) ?? unexpectedRefusal(request, error);
      if (refusal.messageName === 'linkUnknown') unknownLinks.record(request.ip);
      return sendVisitorProblem(request, reply, refusal, ports.clock);
    });
    link.setNotFoundHandler((request, reply) => sendVisitorProblem(request, reply, notFound(request), ports.clock));
    pageRoutes(link, parts);
    signRoutes(link, parts);
    fileRoutes(link, parts);
  });
}
