import type { OutgoingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import type { Action } from '#core/authorization/decide.ts';
import { nameError, parseItemPath, pathRule } from '#core/item-path.ts';
import { defaultListingSize, maxListingSize } from '#core/listing.ts';
import { fieldRefusal } from '#core/messages.ts';
import { sortOrders } from '#core/records/search.ts';
import { listingSortFields, RenameBody } from '#core/records/visit.ts';
import { type IdempotentRequest, idempotentRequestOf, runOnce, storeResponse } from '#features/idempotency/stored-responses.ts';
import { wideNetworkOf } from '#features/turns/visitor-turns.ts';
import { downloadFolder } from '#features/visits/archives/download-folder.ts';
import { authorizeVisit } from '#features/visits/authorization/authorize-visit.ts';
import { createFolder } from '#features/visits/files/create-folder.ts';
import { deleteItem } from '#features/visits/files/delete-item.ts';
import { openDownload } from '#features/visits/files/download-file.ts';
import { type FolderListing, listFolder } from '#features/visits/files/list-folder.ts';
import type { SaveResponseOf } from '#features/visits/files/pending-change.ts';
import { renameItem } from '#features/visits/files/rename-item.ts';
import { disconnectSignal, onceClosed } from '#http/connections/disconnect.ts';
import { expectProgress } from '#http/request-timeouts.ts';
import { unreadResponses } from '#http/unread-responses.ts';
import { readQuery, validator } from '#http/validation.ts';
import { receiveFile } from './receive-file.ts';
import { sendArchive } from './send-archive.ts';
import { disposition, sendFile } from './send-file.ts';
import { type VisitorParts, visitorRequestOf } from './visitor-request.ts';
import { linkHeaders } from './visitor-responses.ts';

const ListQuery = Type.Object(
  {
    startIndex: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
    pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: maxListingSize })),
    sortField: Type.Optional(Type.Enum([...listingSortFields])),
    sortOrder: Type.Optional(Type.String()),
    searchWord: Type.Optional(Type.String({ maxLength: 255 })),
  },
  { additionalProperties: false },
);
const ZipQuery = Type.Object({ name: Type.Optional(Type.Array(Type.String(), { maxItems: 10_000 })) }, { additionalProperties: false });
/** Maximum bytes of listings that visitors have not read yet. */
const maxUnreadBytes = { link: 96 << 20, network: 96 << 20, all: 192 << 20 };
const smallListing = 1 << 16; // bytes: the parts of a smaller listing are copied into one buffer

const checkList = validator(ListQuery);
const checkZip = validator(ZipQuery);
const checkRename = validator(RenameBody);

function listQuery(url: string) {
  const query = readQuery(url, ListQuery);
  checkList(query);
  const {
    sortField = 'name',
    sortOrder = 'asc',
    searchWord,
    startIndex = 0,
    pageSize = defaultListingSize,
  } = query as Static<typeof ListQuery>; // validated above
  const order = Object.entries(sortOrders).find(([word]) => word === sortOrder.toLowerCase())?.[1];
  if (!order) throw fieldRefusal('sortOrder', `must be one of ${Object.keys(sortOrders).join(', ')}`);
  return { sort: sortField, order, searchWord: searchWord || null, startIndex, pageSize };
}

function selectedNames(url: string): string[] | null {
  const query = readQuery(url, ZipQuery, ['name']);
  checkZip(query);
  const { name } = query as Static<typeof ZipQuery>; // validated above
  const error = name?.map(nameError).find((detail) => detail !== null);
  if (error) throw fieldRefusal('name', error);
  return name ?? null;
}

const viewPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; media-src 'self'; frame-ancestors 'none'";

/** Returns the headers of every response at a link. */
const headersOf = (request: FastifyRequest): OutgoingHttpHeaders => ({ ...linkHeaders, 'x-request-id': request.id });

/** Sends a response without Fastify, which answers only an error before the first byte. */
async function sendRaw(reply: FastifyReply, send: () => Promise<void>): Promise<void> {
  try {
    await send();
  } catch (cause) {
    if (!reply.raw.headersSent) throw cause;
  }
  reply.hijack();
}

async function serveFile(request: FastifyRequest, reply: FastifyReply, parts: VisitorParts, action: 'view' | 'download'): Promise<void> {
  const download = await openDownload(parts.ports, visitorRequestOf(request, parts), request.place.path, action);
  const headers = headersOf(request);
  headers['content-disposition'] = disposition(action === 'view' ? 'inline' : 'attachment', download.file.entry.name);
  if (action === 'view') headers['content-security-policy'] = viewPolicy;
  await sendRaw(reply, () => sendFile({ request: request.raw, response: reply.raw, ...parts }, download, headers));
}

/** Sends a page of a folder. Requests for the same page share the bytes of its entries. */
function sendListing(reply: FastifyReply, { path, page, startIndex, pageSize }: FolderListing): FastifyReply {
  const head = Buffer.from(`{"path":${JSON.stringify(path)},"entries":`);
  const tail = Buffer.from(`,"startIndex":${startIndex},"pageSize":${pageSize},"resultCount":${page.count},"totalCount":${page.total}}`);
  const parts = [head, page.entries, tail];
  const length = head.length + page.entries.length + tail.length;
  reply.type('application/json; charset=utf-8');
  if (length < smallListing) return reply.send(Buffer.concat(parts));
  return reply.header('content-length', length).send(Readable.from(parts));
}

async function sendFolder(request: FastifyRequest, reply: FastifyReply, parts: VisitorParts): Promise<void> {
  const clientGone = disconnectSignal(reply.raw);
  const names = selectedNames(request.url);
  const archive = await downloadFolder(parts.ports, visitorRequestOf(request, parts), request.place.path, names, clientGone);
  await sendRaw(reply, () => sendArchive({ request: request.raw, response: reply.raw, ...parts }, archive, headersOf(request)));
}

/** Runs a change at a link. With an Idempotency-Key, its response is stored when it begins, and replayed once it took place. */
async function changeOnce<T>(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: VisitorParts,
  action: Action,
  status: 200 | 201 | 204,
  run: (store: SaveResponseOf<T> | null) => Promise<T>,
) {
  const { ports, running } = parts;
  const now = ports.clock.now();
  // A duplicate request is authorized again too: the permission may have ended.
  const { link, authenticated } = await authorizeVisit(ports, visitorRequestOf(request, parts), { action });
  const user = authenticated ? [authenticated.signedIn.identityKey] : [];
  const idempotentRequest: IdempotentRequest | null = idempotentRequestOf(
    request.headers['idempotency-key'],
    { tid: link.tid, caller: JSON.stringify(['visitor', link.id, request.ip, ...user]) },
    request,
    ports.vault,
  );
  const store: SaveResponseOf<T> | null =
    idempotentRequest &&
    ((tx, value, auditId) =>
      storeResponse(tx, idempotentRequest, { status, body: JSON.stringify(value) }, { vault: ports.vault, now, pendingAuditId: auditId }));
  const visitor = { viewId: link.view_id, address: request.ip, locationId: link.location_id };
  const response = await runOnce(idempotentRequest, running, ports, now, async () => ({
    value: await ports.changes.run(visitor, () => run(store)),
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

/** Adds the routes of a link for listings, files, folders and archives. */
export function fileRoutes(app: FastifyInstance, parts: VisitorParts): void {
  const { ports } = parts;
  const unread = unreadResponses(maxUnreadBytes, 'listingBusy');
  const pathUrls = (url: string) => [url, `${url}/*`];
  for (const url of pathUrls('/s/:viewId/list'))
    app.get(url, async (request, reply) => {
      const clientGone = disconnectSignal(reply.raw);
      const sent = new Promise<void>((resolve) => onceClosed(reply.raw, resolve));
      expectProgress(request.raw, parts.timeouts); // also ends a response that nobody reads
      const visitor = visitorRequestOf(request, parts);
      const listing = await listFolder(ports, visitor, request.place.path, listQuery(request.url), { clientGone, sent });
      const holders = { link: request.place.viewId, network: wideNetworkOf(request.ip) };
      unread.hold(holders, listing.page.entries.length, reply.raw);
      return sendListing(reply, listing);
    });
  for (const url of pathUrls('/s/:viewId/file')) {
    app.route({
      method: ['GET', 'HEAD'],
      url,
      exposeHeadRoute: false,
      handler: (request, reply) => serveFile(request, reply, parts, 'download'),
    });
    app.delete(url, (request, reply) =>
      changeOnce(request, reply, parts, 'delete', 204, (store) =>
        deleteItem(ports, visitorRequestOf(request, parts), request.place.path, store),
      ),
    );
  }
  for (const url of pathUrls('/s/:viewId/view'))
    app.route({
      method: ['GET', 'HEAD'],
      url,
      exposeHeadRoute: false,
      handler: (request, reply) => serveFile(request, reply, parts, 'view'),
    });
  for (const url of pathUrls('/s/:viewId/zip'))
    app.route({ method: ['GET', 'HEAD'], url, exposeHeadRoute: false, handler: (request, reply) => sendFolder(request, reply, parts) });
  for (const url of pathUrls('/s/:viewId/folder'))
    app.post(url, (request, reply) =>
      changeOnce(request, reply, parts, 'createFolder', 201, (store) =>
        createFolder(ports, visitorRequestOf(request, parts), request.place.path, store),
      ),
    );
  app.post('/s/:viewId/rename', (request, reply) => {
    const { item, name } = parseRename(request.body);
    return changeOnce(request, reply, parts, 'rename', 200, (store) =>
      renameItem(ports, visitorRequestOf(request, parts), item, name, store),
    );
  });
  app.register(async (uploads) => {
    // The body is the file, with any Content-Type.
    uploads.removeAllContentTypeParsers();
    uploads.addContentTypeParser('*', async () => undefined);
    uploads.addHook('onRequest', async ({ raw }) => {
      raw.headers['content-type'] = 'application/octet-stream';
    });
    const config = { receivesFile: true };
    for (const url of pathUrls('/s/:viewId/file'))
      uploads.put(url, { config }, (request, reply) => receiveFile(request, reply, parts, request.place.path));
  });
}
