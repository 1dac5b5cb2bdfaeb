// Forwards connections from a socket file to a port of the network namespace in which this program runs. Processes outside of it cannot
// reach the port.
import { connect, createServer } from 'node:net';

const [socketFile = '', port = ''] = process.argv.slice(2);
createServer((outer) => {
  const inner = connect(Number(port), '127.0.0.1');
  for (const [one, other] of [
    [outer, inner],
    [inner, outer],
  ])
    one
      .on('error', () => other.destroy())
      .on('close', () => other.destroy())
      .pipe(other);
}).listen(socketFile);
