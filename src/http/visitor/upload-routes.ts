import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '#core/messages.ts';
import { uploadFile } from '#features/visits/files/upload-file.ts';
import { receiveBody } from './receive-body.ts';
import { resumableUploadRoutes } from './resumable-upload-routes.ts';
import { pathUrls, type VisitorParts, visitorRequestOf } from './visitor-request.ts';

async function putFile(request: FastifyRequest, reply: FastifyReply, parts: VisitorParts): Promise<FastifyReply> {
  const { 'content-range': range, 'content-length': length, 'if-match': ifMatch = null } = request.headers;
  if (range !== undefined) throw new Refusal('requestMalformed', 'Send the entire file: Content-Range is not supported.');
  return receiveBody(request, reply, parts, async (incoming) => {
    const file = { ...incoming, length: length === undefined ? null : Number(length), ifMatch };
    return reply.code(201).send(await uploadFile(parts.ports, visitorRequestOf(request, parts), request.linkItem.path, file));
  });
}

/** Adds the routes of a link that receive files. */
export function uploadRoutes(app: FastifyInstance, parts: VisitorParts): void {
  app.register(async (uploads) => {
    // The body is the file, with any Content-Type. The handler reads it.
    uploads.removeAllContentTypeParsers();
    uploads.addContentTypeParser('*', async () => undefined);
    uploads.addHook('onRequest', async ({ raw }) => {
      raw.headers['content-type'] = 'application/octet-stream';
    });
    const config = { receivesFile: true };
    for (const url of pathUrls('/s/:viewId/file')) uploads.put(url, { config }, (request, reply) => putFile(request, reply, parts));
  });
  resumableUploadRoutes(app, parts);
}
