import type { Duplex } from 'node:stream';
import { DirectoryUnavailable } from '#ports/directory.ts';
import { type Element, elementAt } from './ber.ts';

/** The LDAPMessage with ID 1 and an extended request for StartTLS, OID 1.3.6.1.4.1.1466.20037 (RFC 4511, 4.14). */
const startTlsRequest = Buffer.from('301d02010177188016312e332e362e312e342e312e313436362e3230303337', 'hex');
const maxLength = 4096; // bytes of the response
const [sequence, integer, enumerated, extendedResponse] = [0x30, 0x02, 0x0a, 0x78];

/** Returns whether a message accepts StartTLS: `SEQUENCE { INTEGER 1, [APPLICATION 24] { ENUMERATED 0, … } }`. */
function acceptsStartTls({ tag, content }: Element): boolean {
  const id = elementAt(content, 0);
  const operation = id && elementAt(content, id.end);
  const code = operation && elementAt(operation.content, 0);
  if (!id || !operation || !code || tag !== sequence) return false;
  const isResponse = id.tag === integer && id.content.equals(Buffer.from([1])) && operation.tag === extendedResponse;
  return isResponse && code.tag === enumerated && code.content.equals(Buffer.from([0]));
}

/** Waits for one complete message. Leaves the socket paused. */
function readMessage(socket: Duplex, signal: AbortSignal): Promise<{ readonly message: Element; readonly receivedBytes: Buffer }> {
  const outcome = Promise.withResolvers<{ message: Element; receivedBytes: Buffer }>();
  let receivedBytes = Buffer.alloc(0);
  const failWith = (message: string) => () => outcome.reject(new DirectoryUnavailable(message));
  const onClose = failWith('The directory closed the connection before StartTLS.');
  const onTimeout = failWith('The directory did not respond to StartTLS in time.');
  const onData = (chunk: Buffer) => {
    receivedBytes = Buffer.concat([receivedBytes, chunk]);
    try {
      const message = elementAt(receivedBytes, 0);
      if (message) outcome.resolve({ message, receivedBytes });
      else if (receivedBytes.length > maxLength) failWith('The directory sent too long a response to StartTLS.')();
    } catch (cause) {
      outcome.reject(cause);
    }
  };
  const listeners = { data: onData, close: onClose, error: onClose };
  for (const [event, listener] of Object.entries(listeners)) socket.on(event, listener);
  signal.addEventListener('abort', onTimeout, { once: true });
  return outcome.promise.finally(() => {
    socket.pause();
    for (const [event, listener] of Object.entries(listeners)) socket.off(event, listener);
    signal.removeEventListener('abort', onTimeout);
  });
}

/**
 * Asks a directory to encrypt the connection. Refuses bytes after the response: a directory sends none before TLS begins, so an
 * attacker may have added them.
 * @throws DirectoryUnavailable
 */
export async function requestStartTls(socket: Duplex, signal: AbortSignal): Promise<void> {
  socket.write(startTlsRequest);
  const { message, receivedBytes } = await readMessage(socket, signal);
  if (!acceptsStartTls(message)) throw new DirectoryUnavailable('The directory does not accept StartTLS.');
  if (receivedBytes.length !== message.end)
    throw new DirectoryUnavailable('The directory sent data between its response to StartTLS and the start of TLS.');
}
