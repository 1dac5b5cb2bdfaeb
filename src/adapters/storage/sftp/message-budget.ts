import type { DebugFunction } from 'ssh2';
import { StorageUnavailable } from '#ports/storage-errors.ts';

/** Messages that a server may send besides the answers to requests. A single request may be divided into at most this many packets. */
const maxMessages = 1 << 13;
/** Messages that a server may send for each request. Some servers send small packets, or adjust their window after every few bytes. */
const messagesPerRequest = 256;
/** A key exchange counts as this many messages, because it takes up to 10 ms. Some servers exchange keys after every few kilobytes. */
const keyExchangeCost = 64; // messages
/** A server lists its host keys once. The library verifies a signature for each of them, which takes up to 7 ms for a large key. */
const maxKeyLists = 2;

/** Debug lines about messages that have arrived, and about the packets of a request. */
const countedLine = /^(?:SFTP: )?Inbound: |^Outbound: Sending CHANNEL_DATA /;

/**
 * Returns a function for the option `debug` of a connection, which is the only public way to see each message before the library handles
 * it. The library itself sets no limit to what a server sends. For example, lists of host keys take memory until the end of the
 * connection. If the server names 0 as the maximum size of packets, the library sends empty packets forever.
 *
 * The function throws StorageUnavailable if there are too many messages, so that the library does not handle those that have already
 * arrived. It throws only while bytes of the server are parsed, or a request is sent.
 */
export function messageBudget(): DebugFunction {
  let [messages, keyLists] = [maxMessages, 0];
  return (line) => {
    if (line.startsWith('SFTP: Outbound: ')) messages = Math.min(messages + messagesPerRequest, maxMessages);
    if (!countedLine.test(line)) return;
    messages -= line === 'Inbound: Handshake in progress' ? keyExchangeCost : 1;
    if (line.startsWith('Inbound: GLOBAL_REQUEST (hostkeys-00@openssh.com)')) keyLists += 1;
    if (messages < 0 || keyLists > maxKeyLists) throw new StorageUnavailable('the server sends too many messages, or too small packets');
  };
}
