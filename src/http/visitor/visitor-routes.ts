import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refusal } from '#core/messages.ts';
import { hasSignedIn } from '#features/visits/authorization/authorize-visit.ts';
import { hasSignedInAtPortal } from '#features/visits/authorization/portal.ts';
import { mayHaveSignedIn } from '#features/visits/sessions/may-have-signed-in.ts';
import { maxPublicBodyBytes } from '#http/body-limits.ts';
import { checkLinkOrigin, hostCheck } from '#http/cross-origin.ts';
import { pageRoutes } from '#http/pages/page-routes.ts';
import { asRefusal, isAbandoned, pathOf, unexpectedRefusal } from '#http/problem.ts';
import { NoParameters, readQuery, validator } from '#http/validation.ts';
import { changeRoutes } from './change-routes.ts';
import { documentRoutes } from './document-routes.ts';
import { fileRoutes } from './file-routes.ts';
import { listingRoutes } from './listing-routes.ts';
import { signInRoutes } from './sign-in-routes.ts';
import { isUnsubscribePath, unsubscribeRoutes } from './unsubscribe-routes.ts';
import { uploadRoutes } from './upload-routes.ts';
import { sessionTokens } from './visitor-cookies.ts';
import { parsePaths, type VisitorParts, visitorRequestOf } from './visitor-request.ts';
import { linkHeaders, sendVisitorProblem } from './visitor-responses.ts';

const checkNoQuery = validator(NoParameters);

/**
 * Refuses a network that has tried too many unknown links, unless the visitor has signed in at this link or portal, or sends a right
 * password.
 * @throws `refusal`
 */
async function checkSignedIn(request: FastifyRequest, parts: VisitorParts, refusal: Refusal): Promise<void> {
  const visitor = { ...visitorRequestOf(request, parts), checkNetwork: () => {} };
  const { basic } = visitor.credentials;
  if (request.headers.cookie === undefined && basic === null) throw refusal;
  const [at, signedIn] = isPortal(request) ? (['portal', hasSignedInAtPortal] as const) : (['share', hasSignedIn] as const);
  const mayVerify = () => basic !== null && parts.unknownLinks.mayVerify(visitor.address);
  const tokens = [...sessionTokens(request, parts.ports.links.publicUrl()).values()];
  const mayHave = await parts.limitedSessionLookups.run(visitor, () => mayHaveSignedIn(parts.ports, { ...visitor, tokens }, at), refusal);
  const hasSession = mayHave && (await signedIn(parts.ports, visitor, false));
  request.exemptFromLinkLimit = hasSession || (mayVerify() && (await signedIn(parts.ports, visitor, true)));
  if (!request.exemptFromLinkLimit) throw refusal;
}

/** The methods that each address accepts, for a 405 response. */
const allowedMethods: readonly (readonly [RegExp, string])[] = [
  [/^\/([sp]\/[^/]+)?$/, 'GET, HEAD'],
  [/^\/[sp]\/[^/]+\/visit$/, 'GET, HEAD'],
  [/^\/[sp]\/[^/]+\/(sign-(in(\/code)?|out)|password(\/(code|reset))?)$/, 'POST'],
  [/^\/s\/[^/]+\/(list|zip|pages|page(-text)?|thumbnail)(\/|$)/, 'GET, HEAD'],
  [/^\/s\/[^/]+\/view(\/|$)/, 'GET, HEAD'],
  [/^\/s\/[^/]+\/file(\/|$)/, 'GET, HEAD, PUT, DELETE'],
  [/^\/s\/[^/]+\/upload(\/|$)/, 'OPTIONS, POST, HEAD, PATCH, DELETE'],
  [/^\/s\/[^/]+\/(folder|rename)(\/|$)/, 'POST'],
  [/^\/([sp]\/[^/]+\/sign-in\/start|sign-in\/(oidc\/\d+|test))$/, 'GET, HEAD'],
  [/^\/sign-in\/oidc\/\d+\/logout$/, 'POST'],
  [/^\/sign-in\/saml\/\d+$/, 'GET, HEAD, POST'],
  [/^\/sign-in\/saml\/\d+\/metadata$/, 'GET, HEAD'],
  [/^\/unsubscribe\/[^/]+$/, 'GET, HEAD, POST'],
];

function notFound(request: FastifyRequest): Refusal {
  const allow = allowedMethods.find(([pattern]) => pattern.test(pathOf(request.url)))?.[1];
  if (allow !== undefined && !allow.split(', ').includes(request.method))
    return new Refusal('methodWrong', `This address accepts only ${allow}.`, { allow });
  return new Refusal('notFound');
}

const isPortal = ({ routeOptions }: FastifyRequest) => routeOptions.url?.startsWith('/p/') ?? false;
const isPage = (url: string) => /^\/[sp]\/[^/]+\/?$/.test(pathOf(url));
const readsQuery = (url: string) =>
  isPage(url) || /^\/(s\/[^/]+\/(list|zip|page(-text)?|thumbnail)(\/|$)|p\/[^/]+\/visit$|sign-in\/(oidc\/|saml\/|test$))/.test(pathOf(url));

/** Adds every route for visitors: of links, portals and their sign-in, the front page, and the page to unsubscribe. */
export function visitorRoutes(app: FastifyInstance, parts: VisitorParts): void {
  const { ports, unknownLinks } = parts;
  const checkHost = hostCheck(ports.links.publicUrl);
  app.register(async (link) => {
    link.addHook('onRoute', (route) => {
      route.bodyLimit ??= maxPublicBodyBytes;
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
      if (!request.url.startsWith('/sign-in/') && !isUnsubscribePath(request.url)) checkLinkOrigin(request, ports.links.publicUrl());
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
    signInRoutes(link, parts);
    listingRoutes(link, parts);
    fileRoutes(link, parts);
    documentRoutes(link, parts);
    uploadRoutes(link, parts);
    changeRoutes(link, parts);
    unsubscribeRoutes(link, parts);
  });
}
