import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { Action } from '#core/authorization/decide.ts';
import { nameError, parseItemPath, pathRule } from '#core/item-path.ts';
import { fieldRefusal } from '#core/messages.ts';
import { RenameBody } from '#core/records/visit.ts';
import { type IdempotentRequest, idempotentRequestOf, runOnce, storeResponse } from '#features/idempotency/stored-responses.ts';
import { authorizeVisit } from '#features/visits/authorization/authorize-visit.ts';
import { createFolder } from '#features/visits/files/create-folder.ts';
import { deleteItem } from '#features/visits/files/delete-item.ts';
import type { SaveResponseOf } from '#features/visits/files/file-change.ts';
import { renameItem } from '#features/visits/files/rename-item.ts';
import { disconnectSignal } from '#http/connections/disconnect.ts';
import { validator } from '#http/validation.ts';
import { pathUrls, type VisitorParts, visitorRequestOf } from './visitor-request.ts';

const checkRename = validator(RenameBody);

/**
 * Runs a change at a link. With an Idempotency-Key, the response is stored when the change begins, and is replayed after the change has
 * taken place.
 */
async function changeOnce<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: VisitorParts,
  action: Action,
  status: 200 | 201 | 204,
  run: (saveResponse: SaveResponseOf<T> | null) => Promise<T>,
) {
  const { ports, running } = parts;
  const now = ports.clock.now();
  // A duplicate request is authorized again, too: the visitor may have lost the permission.
  const { link, authenticated } = await authorizeVisit(ports, visitorRequestOf(request, parts), { action });
  const user = authenticated ? [authenticated.signedIn.identityKey] : [];
  const idempotentRequest: IdempotentRequest | null = idempotentRequestOf(
    request.headers['idempotency-key'],
    { tid: link.tid, caller: JSON.stringify(['visitor', link.id, request.ip, ...user]) },
    request,
    ports.vault,
  );
  const saveResponse: SaveResponseOf<T> | null =
    idempotentRequest &&
    ((tx, value, auditId) =>
      storeResponse(tx, idempotentRequest, { status, body: JSON.stringify(value) }, { vault: ports.vault, now, pendingAuditId: auditId }));
  const visitor = { viewId: link.view_id, address: request.ip, locationId: link.location_id };
  // With an Idempotency-Key, the change runs even if the client leaves: the client may get the response with a duplicate request later.
  const clientGone = idempotentRequest ? new AbortController().signal : disconnectSignal(reply.raw);
  const response = await runOnce(idempotentRequest, running, ports, now, async () => ({
    value: await ports.changes.run(visitor, clientGone, () => ports.store.inOwnTurns(() => run(saveResponse))),
  }));
  reply.code(status);
  if ('replayed' in response) reply.code(response.replayed.status).header('idempotency-replayed', 'true');
  if (status === 204) return reply.send();
  return reply
    .type('application/json; charset=utf-8')
    .send('replayed' in response ? response.replayed.body : JSON.stringify(response.value));
}

function parseRename(body: unknown) {
  checkRename(body ?? {});
  const { path, name } = body as Static<typeof RenameBody>; // validated above
  const item = parseItemPath(path);
  if (!item) throw fieldRefusal('path', pathRule);
  const error = nameError(name);
  if (error) throw fieldRefusal('name', error);
  return { item, name };
}

/** Adds the routes of a link that create folders, and rename and delete items. */
export function changeRoutes(app: FastifyInstance, parts: VisitorParts): void {
  const { ports } = parts;
  for (const url of pathUrls('/s/:viewId/file'))
    app.delete(url, (request, reply) =>
      changeOnce(request, reply, parts, 'delete', 204, (saveResponse) =>
        deleteItem(ports, visitorRequestOf(request, parts), request.linkItem.path, saveResponse),
      ),
    );
  for (const url of pathUrls('/s/:viewId/folder'))
    app.post(url, (request, reply) =>
      changeOnce(request, reply, parts, 'createFolder', 201, (saveResponse) =>
        createFolder(ports, visitorRequestOf(request, parts), request.linkItem.path, saveResponse),
      ),
    );
  app.post('/s/:viewId/rename', (request, reply) => {
    const { item, name } = parseRename(request.body);
    return changeOnce(request, reply, parts, 'rename', 200, (saveResponse) =>
      renameItem(ports, visitorRequestOf(request, parts), item, name, saveResponse),
    );
  });
}
