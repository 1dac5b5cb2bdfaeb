import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type ItemPath, longestPath, mostLevels, parseEncodedPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import type { RunningRequests } from '#features/idempotency/stored-responses.ts';
import type { VisitorRequest, VisitPorts } from '#features/visits/authorization/authorize-visit.ts';
import type { Transfers } from '#features/visits/transfers/follow-transfers.ts';
import { pathOf } from '#http/problem.ts';
import type { RequestTimeouts } from '#http/request-timeouts.ts';
import type { FrontServerHeaders } from './front-server-file.ts';
import type { TransferBuffers } from './transfer-buffers.ts';
import type { UnknownLinks } from './unknown-links.ts';
import { credentialsOf } from './visitor-cookies.ts';

/** What the routes of a link need. */
export interface VisitorParts {
  readonly ports: VisitPorts;
  readonly transfers: Transfers;
  readonly unknownLinks: UnknownLinks;
  readonly running: RunningRequests;
  readonly timeouts: RequestTimeouts;
  readonly frontServer: FrontServerHeaders;
  readonly buffers: TransferBuffers;
  /** Does the management interface answer at the same address? */
  readonly managed: boolean;
  /** Folder of the built pages. */
  readonly pages: string;
}

/** The link and the item that an address names. */
interface Place {
  readonly viewId: string;
  readonly path: ItemPath;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Of a request at a link: read once, before anything else is asked. */
    place: Place;
    /** Its visitor has signed in at the link: the unknown links that others of the network try do not count. */
    exempt: boolean;
  }
}

const linkAddress = /^\/[^/]*\/([^/]*)(?:\/[^/]*(?:\/(.*))?)?$/s; // /s/{viewId}/{route}/{path}

/** The viewId and the item of an address, percent-decoded once. @throws 400 */
function placeOf(url: string): Place {
  const [, viewId = '', item = ''] = linkAddress.exec(pathOf(url)) ?? [];
  const path = parseEncodedPath(item);
  if (!path)
    throw new Refusal(
      'pathMalformed',
      `A path has at most ${mostLevels} levels and ${longestPath} characters, and none of its names is ".", "..", empty, reserved, holds a slash, a backslash or control characters, or is not percent-encoded UTF-8.`,
    );
  return { viewId, path };
}

/** Reads the place of every request, and refuses what names none, before any other hook of the link. */
export function parsePaths(app: FastifyInstance): void {
  app.decorateRequest('place');
  app.decorateRequest('exempt', false);
  app.addHook('onRequest', (request, _reply, done) => {
    request.place = placeOf(request.url);
    done();
  });
}

/** Who asks for what, from where. */
export function visitorRequestOf(request: FastifyRequest, { ports, unknownLinks }: VisitorParts): VisitorRequest {
  const { viewId } = request.place;
  const address = request.ip;
  const checkNetwork = () => {
    const refusal = request.exempt ? null : unknownLinks.refusal(address);
    if (refusal) throw refusal;
  };
  return { viewId, address, requestId: request.id, credentials: credentialsOf(request, ports.links.publicUrl()), checkNetwork };
}
