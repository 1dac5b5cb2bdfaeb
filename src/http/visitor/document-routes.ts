import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type, { type Static } from 'typebox';
import { type DrawnPage, documentPages, drawPage, drawThumbnail, pageText } from '#features/visits/documents/draw-pages.ts';
import { disconnectSignal } from '#http/connections/disconnect.ts';
import { readQuery, validator } from '#http/validation.ts';
import { sendDrawnBytes } from './send-drawn-bytes.ts';
import { pathUrls, type VisitorParts, visitorRequestOf } from './visitor-request.ts';

const pageNumber = Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 }));
const PageQuery = Type.Object(
  {
    number: pageNumber,
    width: Type.Optional(Type.Integer({ minimum: 16, maximum: 4096 })),
  },
  { additionalProperties: false },
);
const ThumbnailQuery = Type.Object({ size: Type.Optional(Type.Integer({ minimum: 32, maximum: 1024 })) }, { additionalProperties: false });
const checkPage = validator(PageQuery);
const checkThumbnail = validator(ThumbnailQuery);
const [defaultWidth, defaultSize] = [1024, 256]; // pixels

function pageQuery(url: string) {
  const query = readQuery(url, PageQuery);
  checkPage(query);
  const { number = 1, width = defaultWidth } = query as Static<typeof PageQuery>; // validated above
  return { number, width };
}

function thumbnailSize(url: string): number {
  const query = readQuery(url, ThumbnailQuery);
  checkThumbnail(query);
  return (query as Static<typeof ThumbnailQuery>).size ?? defaultSize; // validated above
}

const TextQuery = Type.Object({ number: pageNumber }, { additionalProperties: false });
const checkText = validator(TextQuery);

function textNumber(url: string): number {
  const query = readQuery(url, TextQuery);
  checkText(query);
  return (query as Static<typeof TextQuery>).number ?? 1; // validated above
}

/** Adds the routes of a link that show the pages of documents, as pictures and as text. */
export function documentRoutes(app: FastifyInstance, parts: VisitorParts): void {
  const requestOf = (request: FastifyRequest) => [parts.ports, visitorRequestOf(request, parts), request.linkItem.path] as const;
  const sendPage = async (request: FastifyRequest, reply: FastifyReply, drawing: Promise<DrawnPage>) => {
    const page = await drawing;
    return sendDrawnBytes(request, reply, parts, page, { mediaType: page.mediaType, type: 'inline', name: null });
  };
  for (const url of pathUrls('/s/:viewId/pages'))
    app.get(url, async (request, reply) => {
      const sizes = await documentPages(...requestOf(request), disconnectSignal(reply.raw));
      return { pages: sizes.map(({ width, height }, index) => ({ number: index + 1, width, height })), totalCount: sizes.length };
    });
  for (const url of pathUrls('/s/:viewId/page'))
    app.get(url, (request, reply) =>
      sendPage(request, reply, drawPage(...requestOf(request), pageQuery(request.url), disconnectSignal(reply.raw))),
    );
  for (const url of pathUrls('/s/:viewId/page-text'))
    app.get(url, (request, reply) =>
      sendPage(request, reply, pageText(...requestOf(request), textNumber(request.url), disconnectSignal(reply.raw))),
    );
  for (const url of pathUrls('/s/:viewId/thumbnail'))
    app.get(url, (request, reply) =>
      sendPage(request, reply, drawThumbnail(...requestOf(request), thumbnailSize(request.url), disconnectSignal(reply.raw))),
    );
}
