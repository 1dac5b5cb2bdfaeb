import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply } from 'fastify';
import Type, { type Static } from 'typebox';
import { wideNetworkOf } from '#core/client-networks.ts';
import { defaultListingSize, maxListingSize } from '#core/listing.ts';
import { fieldRefusal } from '#core/messages.ts';
import { sortOrders } from '#core/records/search.ts';
import { listingSortFields } from '#core/records/visit.ts';
import { type FolderListing, listFolder } from '#features/visits/files/list-folder.ts';
import { disconnectSignal, onceClosed } from '#http/connections/disconnect.ts';
import { expectProgress } from '#http/request-timeouts.ts';
import { unreadResponses } from '#http/unread-responses.ts';
import { readQuery, validator } from '#http/validation.ts';
import { pathUrls, type VisitorParts, visitorRequestOf } from './visitor-request.ts';

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
/** Maximum bytes of listings that visitors have not read yet. */
const maxUnreadBytes = { link: 96 << 20, wideNetwork: 96 << 20, all: 192 << 20 };
const smallListing = 1 << 16; // bytes: the parts of a smaller listing are copied into one buffer

const checkList = validator(ListQuery);

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

/** Adds the routes of a link that list its folders. */
export function listingRoutes(app: FastifyInstance, parts: VisitorParts): void {
  const unread = unreadResponses(maxUnreadBytes, 'listingBusy');
  for (const url of pathUrls('/s/:viewId/list'))
    app.get(url, async (request, reply) => {
      const clientGone = disconnectSignal(reply.raw);
      const responseEnd = new Promise<void>((resolve) => onceClosed(reply.raw, resolve));
      expectProgress(request.raw, parts.timeouts); // also ends a response that nobody reads
      const visitor = visitorRequestOf(request, parts);
      const listing = await listFolder(parts.ports, visitor, request.linkItem.path, listQuery(request.url), { clientGone, responseEnd });
      const holders = { link: request.linkItem.viewId, wideNetwork: wideNetworkOf(request.ip) };
      unread.hold(holders, listing.page.entries.length, reply.raw);
      return sendListing(reply, listing);
    });
}
