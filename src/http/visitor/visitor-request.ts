import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type ItemPath, maxPathLength, maxPathLevels, parseEncodedPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import type { RunningRequests } from '#features/idempotency/stored-responses.ts';
import type { VisitorRequest } from '#features/visits/authorization/authorize-visit.ts';
import type { VisitPorts } from '#features/visits/authorization/visit-services.ts';
import type { Transfers } from '#features/visits/transfers/follow-transfers.ts';
import { pathOf } from '#http/problem.ts';
import type { RequestTimeouts } from '#http/request-timeouts.ts';
import type { DiscardLimit } from './discard-limit.ts';
import type { LimitedSessionLookups } from './limited-session-lookups.ts';
import type { ResponseMemory } from './response-memory.ts';
import type { ReverseProxyHeaders } from './reverse-proxy-file.ts';
import type { UnknownLinks } from './unknown-links.ts';
import { credentialsOf } from './visitor-cookies.ts';

export interface VisitorParts {
  readonly ports: VisitPorts;
  readonly transfers: Transfers;
  readonly unknownLinks: UnknownLinks;
  readonly limitedSessionLookups: LimitedSessionLookups;
  readonly running: RunningRequests;
  readonly timeouts: RequestTimeouts;
  readonly reverseProxy: ReverseProxyHeaders;
  readonly responseMemory: ResponseMemory;
  readonly discards: DiscardLimit;
  /** Whether the management interface is served at the same address. */
  readonly hasManagement: boolean;
  /** Folder of the built pages. */
  readonly pages: string;
}

/** The link and the item that an address names. */
interface LinkItem {
  readonly viewId: string;
  readonly path: ItemPath;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The link and the item of a request at a link. Undefined in hooks that run before `parsePaths`. */
    linkItem: LinkItem;
    /** Whether the request is allowed although its network has tried too many unknown links: its visitor has signed in at this link. */
    exemptFromLinkLimit: boolean;
  }
}

const linkAddress = /^\/[^/]*\/([^/]*)(?:\/[^/]*(?:\/(.*))?)?$/s; // /s/{viewId}/{route}/{path}

/** Returns the viewId of an address, not decoded, and the path of the item, percent-decoded once. @throws Refusal (400) */
function parseLinkItem(url: string): LinkItem {
  const [, viewId = '', item = ''] = linkAddress.exec(pathOf(url)) ?? [];
  const path = parseEncodedPath(item);
  if (!path)
    throw new Refusal(
      'pathMalformed',
      `A path has at most ${maxPathLevels} levels and ${maxPathLength} characters. Its names must be percent-encoded UTF-8 of at most 255 bytes, must not be empty, reserved, "." or "..", and must not contain a slash, a backslash or a control character.`,
    );
  return { viewId, path };
}

/** Returns the two route patterns of an address: for the root of the link, and for an item in it. */
export const pathUrls = (url: string): readonly string[] => [url, `${url}/*`];

/** Parses the path of every request, and refuses a malformed one. The hooks that are added after this one can use `request.linkItem`. */
export function parsePaths(app: FastifyInstance): void {
  app.decorateRequest('linkItem');
  app.decorateRequest('exemptFromLinkLimit', false);
  app.addHook('onRequest', (request, _reply, done) => {
    request.linkItem = parseLinkItem(request.url);
    done();
  });
}

/** Returns the visitor's request: the link, the address and the credentials. */
export function visitorRequestOf(request: FastifyRequest, { ports, unknownLinks }: VisitorParts): VisitorRequest {
  const { viewId } = request.linkItem;
  const address = request.ip;
  const checkNetwork = () => {
    const refusal = request.exemptFromLinkLimit ? null : unknownLinks.refusal(address);
    if (refusal) throw refusal;
  };
  return { viewId, address, requestId: request.id, credentials: credentialsOf(request, ports.links.publicUrl()), checkNetwork };
}
