import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** Bytes of all connections since the process started. */
interface Traffic {
  readonly received: number;
  readonly sent: number;
}

/** Counts the bytes of connections. */
export function countTraffic(): { readonly watch: (server: Server) => void; readonly totals: () => Traffic } {
  const openSockets = new Set<Socket>();
  let closedTraffic: Traffic = { received: 0, sent: 0 };
  const addTraffic = ({ received, sent }: Traffic, { bytesRead, bytesWritten }: Socket): Traffic => ({
    received: received + bytesRead,
    sent: sent + bytesWritten,
  });
  return {
    watch(server) {
      server.on('connection', (socket: Socket) => {
        openSockets.add(socket);
        socket.once('close', () => {
          openSockets.delete(socket);
          closedTraffic = addTraffic(closedTraffic, socket);
        });
      });
    },
    totals: () => [...openSockets].reduce(addTraffic, closedTraffic),
  };
}
