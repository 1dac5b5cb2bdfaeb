import { setImmediate } from 'node:timers/promises';
import type { Connection } from 'ssh2';

/** The private part of a connection of the server of ssh2. Its public part sends only correct messages. */
interface RawConnection {
  readonly _protocol: {
    readonly _cipher: { allocPacket(length: number): Buffer; encrypt(packet: Buffer): void };
    channelOpenConfirm(remote: number, local: number, window: number, maxPacketSize: number): void;
  };
}

const isRaw = (connection: object): connection is RawConnection => '_protocol' in connection;

function protocolOf(connection: Connection): RawConnection['_protocol'] {
  if (!isRaw(connection)) throw new TypeError('the private part of ssh2 has changed');
  return connection._protocol;
}

const uint32 = (value: number) => Buffer.from([value >>> 24, value >>> 16, value >>> 8, value]);

/** Returns a message of SSH. A number is a byte, `[n]` a 32-bit number. The length of a text or `Buffer` precedes it (RFC 4251, 5). */
export const sshMessage = (...parts: readonly (number | readonly [number] | string | Buffer)[]): Buffer =>
  Buffer.concat(
    parts.flatMap((part) => {
      if (typeof part === 'number') return [Buffer.from([part])];
      if (typeof part === 'string' || Buffer.isBuffer(part)) return [uint32(part.length), Buffer.from(part)];
      return [uint32(part[0])];
    }),
  );

/** Sends a message that the server of ssh2 would not send by itself. */
export function sendRaw(connection: Connection, message: Buffer): void {
  const { _cipher: cipher } = protocolOf(connection);
  const packet = cipher.allocPacket(message.length);
  packet.set(message, 5);
  cipher.encrypt(packet);
}

const turnSize = 1 << 15; // bytes that are sent before the client has a turn

/** Sends a message again and again, until the client closes the connection. */
export async function sendWithoutEnd(connection: Connection, message: Buffer): Promise<void> {
  let isOpen = true;
  connection.on('close', () => {
    isOpen = false;
  });
  while (isOpen) {
    for (let size = 0; isOpen && size < turnSize; size += message.length + 32) sendRaw(connection, message);
    await setImmediate();
  }
}

/** Makes the server tell the client, whenever a channel opens, to send packets of at most `size` bytes. */
export function limitPacketSize(connection: Connection, size: number): void {
  const protocol = protocolOf(connection);
  const confirm = protocol.channelOpenConfirm;
  protocol.channelOpenConfirm = (remote, local, window) => confirm.call(protocol, remote, local, window, size);
}
