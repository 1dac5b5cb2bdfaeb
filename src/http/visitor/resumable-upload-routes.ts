import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { nameError, parseSegments } from '#core/item-path.ts';
import { fieldRefusal, Refusal } from '#core/messages.ts';
import { fileNameOf } from '#core/upload-metadata.ts';
import type { IncomingBody } from '#features/visits/files/upload-file.ts';
import { continueUpload, type UploadState } from '#features/visits/resumable-uploads/continue-upload.ts';
import { createUpload } from '#features/visits/resumable-uploads/create-upload.ts';
import { deleteUpload, readUpload } from '#features/visits/resumable-uploads/unfinished-upload.ts';
import { isPart } from '#http/part-type.ts';
import { receiveBody } from './receive-body.ts';
import { pathUrls, type VisitorParts, visitorRequestOf } from './visitor-request.ts';

// The protocol tus 1.0.0 (https://tus.io/protocols/resumable-upload), with its extensions creation, termination, checksum and expiration.

const version = '1.0.0';
const checksumAlgorithm = 'sha256';
const sha256Bytes = 32;
const maxMetadataLength = 2048; // characters

interface Exchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly parts: VisitorParts;
  readonly incoming: IncomingBody;
}

type Handler = (exchange: Exchange) => Promise<FastifyReply>;

const headerOf = ({ headers }: FastifyRequest, name: string): string | undefined => {
  const value = headers[name.toLowerCase()];
  return Array.isArray(value) ? value[0] : value;
};

/** Returns a header that is a number of bytes. @throws Refusal (400) if it is missing or malformed */
function bytesOf(request: FastifyRequest, name: string): number {
  const value = headerOf(request, name);
  if (value === undefined || !/^\d{1,15}$/.test(value)) throw fieldRefusal(name, 'must be a number of bytes');
  return Number(value);
}

/** Returns the id in the address of an upload. @throws Refusal (404) if the address contains no single id */
function idOf({ linkItem: { path } }: FastifyRequest): string {
  const [id] = path;
  if (id === undefined || path.length > 1) throw new Refusal('uploadUnknown');
  return id;
}

/** Returns the SHA-256 of a part, or null if the client did not send it. @throws Refusal (400) if it is malformed */
function checksumOf(request: FastifyRequest): Buffer | null {
  const value = headerOf(request, 'Upload-Checksum');
  if (value === undefined) return null;
  const [algorithm, text = ''] = value.split(' ');
  const checksum = Buffer.from(text, 'base64');
  if (algorithm !== checksumAlgorithm || checksum.length !== sha256Bytes)
    throw fieldRefusal('Upload-Checksum', `must be "${checksumAlgorithm}" and the SHA-256 of the part in base64`);
  return checksum;
}

const formatExpiry = (time: number) => new Date(time).toUTCString();

/**
 * Returns the file that a client wants to send.
 * @throws Refusal (400) if Upload-Length or Upload-Metadata is missing, malformed or too long, or if the file's name or path is not valid
 */
function announcedFileOf(request: FastifyRequest) {
  const size = bytesOf(request, 'Upload-Length');
  const metadata = headerOf(request, 'Upload-Metadata') ?? '';
  if (metadata.length > maxMetadataLength) throw fieldRefusal('Upload-Metadata', `must have at most ${maxMetadataLength} characters`);
  const name = fileNameOf(metadata);
  if (name === null) throw fieldRefusal('Upload-Metadata', 'must contain "filename" and the name of the file in UTF-8 and base64');
  const error = nameError(name);
  if (error) throw fieldRefusal('Upload-Metadata', `names a file that cannot be stored: ${error}`);
  const path = parseSegments([...request.linkItem.path, name]);
  if (!path) throw new Refusal('pathMalformed');
  return { path, size, metadata };
}

async function* noBytes(): AsyncGenerator<Uint8Array> {}

/** Begins an upload. An empty file is complete at once. */
async function create({ request, reply, parts, incoming }: Exchange): Promise<FastifyReply> {
  const { ports } = parts;
  const visitorRequest = visitorRequestOf(request, parts);
  const file = announcedFileOf(request);
  const { id, expiresAt } = await createUpload(ports, visitorRequest, file);
  if (file.size === 0) {
    const part = { ...incoming, length: 0, offset: 0, checksum: null, body: noBytes() };
    await continueUpload(ports, visitorRequest, id, part).catch(async (cause: unknown) => {
      await deleteUpload(ports, visitorRequest, id).catch(() => {}); // the client does not know the address of the upload
      throw cause;
    });
  }
  const location = `${ports.links.publicUrl()}/s/${encodeURIComponent(request.linkItem.viewId)}/upload/${id}`;
  const headers = { location, 'upload-expires': formatExpiry(expiresAt) };
  return reply.code(201).headers(headers).send();
}

/** Returns the header with the SHA-256 of a file (RFC 9530, 3). @param sha256 hexadecimal */
const digestHeader = (sha256: string) => ({ 'repr-digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:` });

const sendProgress = (reply: FastifyReply, { received, expiresAt, stored }: UploadState) =>
  reply
    .code(204)
    .headers({
      'upload-offset': received,
      ...(stored ? digestHeader(stored.sha256) : { 'upload-expires': formatExpiry(expiresAt) }),
    })
    .send();

async function receivePart({ request, reply, parts, incoming }: Exchange): Promise<FastifyReply> {
  if (!isPart(request.raw)) throw new Refusal('partTypeWrong');
  const length = headerOf(request, 'Content-Length');
  const part = {
    ...incoming,
    length: length === undefined ? null : Number(length),
    offset: bytesOf(request, 'Upload-Offset'),
    checksum: checksumOf(request),
  };
  return sendProgress(reply, await continueUpload(parts.ports, visitorRequestOf(request, parts), idOf(request), part));
}

/**
 * Sends how many bytes are durable. If the upload is complete, responds with 410, the length and, if known, the SHA-256: the client may
 * not have received the response to the last part.
 */
async function sendState({ request, reply, parts }: Exchange): Promise<FastifyReply> {
  const upload = await readUpload(parts.ports, visitorRequestOf(request, parts), idOf(request));
  const { received, size, metadata, expires_at: expiresAt, stored_name: storedName, sha256 } = upload;
  reply.headers({ 'upload-offset': received, 'upload-length': size, 'upload-metadata': metadata, 'cache-control': 'no-store' });
  if (storedName === null) return reply.code(200).header('upload-expires', formatExpiry(expiresAt)).send();
  if (sha256 !== null) reply.headers(digestHeader(sha256));
  throw new Refusal('uploadComplete');
}

async function remove({ request, reply, parts }: Exchange): Promise<FastifyReply> {
  await deleteUpload(parts.ports, visitorRequestOf(request, parts), idOf(request));
  return reply.code(204).send();
}

const handlers: Readonly<Record<'POST' | 'PATCH' | 'HEAD' | 'DELETE', Handler>> = {
  POST: create,
  PATCH: receivePart,
  HEAD: sendState,
  DELETE: remove,
};
const isHandled = (method: string): method is keyof typeof handlers => Object.hasOwn(handlers, method);

/**
 * Returns the intended method of a request: a client that cannot send this method sends POST and
 * names the intended method in a header.
 */
function methodOf(request: FastifyRequest): string {
  return (request.method === 'POST' ? headerOf(request, 'X-HTTP-Method-Override') : undefined) ?? request.method;
}

/** Adds the routes of a link that receive files in parts. */
export function resumableUploadRoutes(app: FastifyInstance, parts: VisitorParts): void {
  const offer = {
    'tus-version': version,
    'tus-extension': 'creation,expiration,termination,checksum',
    'tus-max-size': parts.ports.limits.maxFileSize,
    'tus-checksum-algorithm': checksumAlgorithm,
  };
  function dispatch(exchange: Exchange): Promise<FastifyReply> {
    const { request, reply } = exchange;
    if (headerOf(request, 'Tus-Resumable') !== version) {
      reply.header('tus-version', version);
      throw new Refusal('tusVersionWrong');
    }
    const method = methodOf(request);
    if (!isHandled(method)) throw new Refusal('methodWrong', undefined, { allow: 'OPTIONS, POST, HEAD, PATCH, DELETE' });
    return handlers[method](exchange);
  }
  const handle = (request: FastifyRequest, reply: FastifyReply) =>
    receiveBody(request, reply, parts, async (incoming) => dispatch({ request, reply, parts, incoming }));
  app.register(async (uploads) => {
    uploads.removeAllContentTypeParsers();
    uploads.addContentTypeParser('*', async () => undefined); // the handler reads the body
    uploads.addHook('onRequest', async ({ raw }, reply) => {
      reply.header('tus-resumable', version);
      // Fastify would refuse a malformed Content-Type before the handler could discard the body. `isPart` reads the original header.
      raw.headers['content-type'] = 'application/octet-stream';
    });
    const withBody: HTTPMethods[] = ['POST', 'PATCH'];
    for (const url of pathUrls('/s/:viewId/upload')) {
      uploads.options(url, async (_request, reply) => reply.code(204).headers(offer).send());
      uploads.route({ method: withBody, url, config: { receivesFile: true }, handler: handle });
      uploads.route({ method: ['HEAD', 'DELETE'], url, exposeHeadRoute: false, handler: handle });
    }
  });
}
