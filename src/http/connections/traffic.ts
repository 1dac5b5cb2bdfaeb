import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Bytes of all connections since the start. */
interface Traffic {
  readonly received: number;
  readonly sent: number;
}

/** Counts the bytes of connections: those that are open are asked, those that have closed are remembered as a sum. */
export function countTraffic(): { readonly watch: (server: Server) => void; readonly totals: () => Traffic } {
  const open = new Set<Socket>();
  let closed: Traffic = { received: 0, sent: 0 };
  const plus = ({ received, sent }: Traffic, { bytesRead, bytesWritten }: Socket): Traffic => ({
    received: received + bytesRead,
    sent: sent + bytesWritten,
  });
  return {
    watch(server) {
      server.on('connection', (socket: Socket) => {
        open.add(socket);
        socket.once('close', () => {
          open.delete(socket);
          closed = plus(closed, socket);
        });
      });
    },
    totals: () => [...open].reduce(plus, closed),
  };
}
