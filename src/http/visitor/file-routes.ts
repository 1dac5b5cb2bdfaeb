import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import Type, { type Static } from 'typebox';
import { nameError } from '#core/item-path.ts';
import { fieldRefusal } from '#core/messages.ts';
import { downloadFolder } from '#features/visits/archives/download-folder.ts';
import { newFile } from '#features/visits/documents/draw-pages.ts';
import type { DirectDownload } from '#features/visits/files/direct-download.ts';
import { type NewFileNeeded, openDownload } from '#features/visits/files/download-file.ts';
import { disconnectSignal } from '#http/connections/disconnect.ts';
import { readQuery, validator } from '#http/validation.ts';
import { sendArchive } from './send-archive.ts';
import { sendDrawnBytes } from './send-drawn-bytes.ts';
import { disposition, sendFile } from './send-file.ts';
import { pathUrls, type VisitorParts, visitorRequestOf } from './visitor-request.ts';
import { linkHeaders } from './visitor-responses.ts';

const ZipQuery = Type.Object({ name: Type.Optional(Type.Array(Type.String(), { maxItems: 10_000 })) }, { additionalProperties: false });
const checkZip = validator(ZipQuery);

function selectedNames(url: string): string[] | null {
  const query = readQuery(url, ZipQuery, ['name']);
  checkZip(query);
  const { name } = query as Static<typeof ZipQuery>; // validated above
  const error = name?.map(nameError).find((detail) => detail !== null);
  if (error) throw fieldRefusal('name', error);
  return name ?? null;
}

const viewPolicy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; media-src 'self'; frame-ancestors 'none'";

/** Returns the headers of each response that is sent without Fastify. */
const headersOf = (request: FastifyRequest): OutgoingHttpHeaders => ({ ...linkHeaders, 'x-request-id': request.id });

/** Sends a response without Fastify. Fastify answers only an error that occurs before the first byte. */
async function sendRaw(reply: FastifyReply, send: () => Promise<void>): Promise<void> {
  try {
    await send();
  } catch (cause) {
    if (!reply.raw.headersSent) throw cause;
  }
  reply.hijack();
}

/** Redirects the visitor to the storage, which then handles the conditions and ranges of the request. */
async function redirectToStorage(reply: FastifyReply, { entry, signAddress, appendEntry }: DirectDownload): Promise<void> {
  const address = await signAddress(disposition('attachment', entry.name));
  const auditEntry = await appendEntry();
  await reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' }).redirect(address, 302);
  auditEntry.end('done', null);
}

/** Sends a file with a watermark or a signature. The response to HEAD has no body, so nothing is drawn for it. */
async function serveNewFile(
  request: FastifyRequest,
  reply: FastifyReply,
  parts: VisitorParts,
  action: 'view' | 'download',
  { name, mediaType }: NewFileNeeded,
): Promise<void> {
  const type = action === 'view' ? 'inline' : 'attachment';
  if (request.method === 'HEAD') return void (await reply.type(mediaType).header('content-disposition', disposition(type, name)).send());
  const drawn = await newFile(parts.ports, visitorRequestOf(request, parts), request.linkItem.path, action, disconnectSignal(reply.raw));
  await sendDrawnBytes(request, reply, parts, drawn, { mediaType, type, name });
}

async function serveFile(request: FastifyRequest, reply: FastifyReply, parts: VisitorParts, action: 'view' | 'download'): Promise<void> {
  const visitorRequest = visitorRequestOf(request, parts);
  // Postern answers HEAD itself: the storage has another origin, so the page could not read its response.
  const download = await openDownload(parts.ports, visitorRequest, request.linkItem.path, action, request.method === 'GET');
  if ('signAddress' in download) return redirectToStorage(reply, download);
  if ('newFileNeeded' in download) return serveNewFile(request, reply, parts, action, download);
  const headers = headersOf(request);
  headers['content-disposition'] = disposition(action === 'view' ? 'inline' : 'attachment', download.file.entry.name);
  if (action === 'view') headers['content-security-policy'] = viewPolicy;
  await sendRaw(reply, () => sendFile({ request: request.raw, response: reply.raw, ...parts }, download, headers));
}

async function sendFolder(request: FastifyRequest, reply: FastifyReply, parts: VisitorParts): Promise<void> {
  const clientGone = disconnectSignal(reply.raw);
  const names = selectedNames(request.url);
  const archive = await downloadFolder(parts.ports, visitorRequestOf(request, parts), request.linkItem.path, names, clientGone);
  await sendRaw(reply, () => sendArchive({ request: request.raw, response: reply.raw, ...parts }, archive, headersOf(request)));
}

/** Adds the routes of a link that send files and archives. */
export function fileRoutes(app: FastifyInstance, parts: VisitorParts): void {
  const addRead = (path: string, handler: RouteHandlerMethod) => {
    for (const url of pathUrls(path)) app.route({ method: ['GET', 'HEAD'], url, exposeHeadRoute: false, handler });
  };
  addRead('/s/:viewId/file', (request, reply) => serveFile(request, reply, parts, 'download'));
  addRead('/s/:viewId/view', (request, reply) => serveFile(request, reply, parts, 'view'));
  addRead('/s/:viewId/zip', (request, reply) => sendFolder(request, reply, parts));
}
