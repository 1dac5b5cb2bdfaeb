import { createRequire } from 'node:module';
import ssh2 from 'ssh2';
import { StorageUnavailable } from '#ports/storage-errors.ts';

export const { BaseAgent, Client } = ssh2;

const infoRequest = 60; // SSH_MSG_USERAUTH_INFO_REQUEST (RFC 4256, 3.2). Other sign-in methods use the number for messages with fewer texts
const minPromptSize = 5; // bytes: the length of a text, and a boolean

/** Returns whether a message announces more prompts than fit into it. Name, instruction and language come before the number of prompts. */
function announcesTooMany(message: Buffer): boolean {
  let position = 1;
  for (let texts = 0; texts < 3 && position + 4 <= message.length; texts += 1) position += 4 + message.readUInt32BE(position);
  if (position + 4 > message.length) return false;
  return message.readUInt32BE(position) * minPromptSize > message.length - position - 4;
}

/**
 * Limits the prompts for passwords: the library creates an array with as many elements as the server announces: up to 256 MB and half
 * a second. The library has no option for this, so its handler of `infoRequest` is replaced.
 * @param handlers the handlers of the library, by type of message
 */
function limitPrompts(handlers: unknown): void {
  const handle: unknown = Array.isArray(handlers) ? handlers[infoRequest] : null;
  if (!Array.isArray(handlers) || typeof handle !== 'function') throw new TypeError('this version of ssh2 has other handlers');
  handlers[infoRequest] = (protocol: unknown, message: unknown): unknown => {
    if (Buffer.isBuffer(message) && announcesTooMany(message))
      throw new StorageUnavailable('the server announces prompts that it does not send');
    return handle(protocol, message);
  };
}

limitPrompts(createRequire(import.meta.url)('ssh2/lib/protocol/handlers.js'));
