import type { FastifyRequest } from 'fastify';
import { type ItemPath, parseEncodedPath } from '#core/item-path.ts';
import { Refusal } from '#core/messages.ts';
import type { Approaching, VisitPorts } from '#features/visits/enter.ts';
import type { Transfers } from '#features/visits/transfers.ts';
import type { Running } from './idempotency.ts';
import type { Patience } from './patience.ts';
import { pathOf } from './problem.ts';
import type { UnknownLinks } from './unknown-links.ts';
import { credentialsOf } from './visitor-cookies.ts';

/** What the routes of a link need. */
export interface VisitorParts {
  readonly ports: VisitPorts;
  readonly transfers: Transfers;
  readonly unknownLinks: UnknownLinks;
  readonly running: Running;
  readonly patience: Patience;
  /** Folder of the built pages. */
  readonly pages: string;
}

/** The viewId and the item of an address, percent-decoded once. @throws 400 */
export function addressOf(url: string): { viewId: string; path: ItemPath } {
  const [, , viewId = '', , ...rest] = pathOf(url).split('/');
  const path = parseEncodedPath(rest.join('/'));
  if (!path)
    throw new Refusal(
      'pathMalformed',
      'A segment of the path is ".", "..", empty, reserved, holds a slash, a backslash or control characters, or is not percent-encoded UTF-8.',
    );
  return { viewId, path };
}

/** Who asks for what, from where. */
export function approachingOf(request: FastifyRequest, { ports }: VisitorParts): Approaching {
  const { viewId } = addressOf(request.url);
  return { viewId, address: request.ip, requestId: request.id, credentials: credentialsOf(request, ports.links.publicUrl()) };
}
