import type { FastifyReply } from 'fastify';

/** Sends the browser to another address. The response must not be stored: the address may contain secrets of a sign-in. */
export const redirect = (reply: FastifyReply, url: string): FastifyReply => reply.header('cache-control', 'no-store').redirect(url, 303);
