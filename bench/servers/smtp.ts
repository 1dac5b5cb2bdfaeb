// A mail server that counts mails (npm smtp-server). Its HTTP server returns the SMTP port and the counts, and sets the delay of each mail.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';

let [count, codes, delay] = [0, 0, 0];
const smtp = new SMTPServer({
  ...{ disabledCommands: ['STARTTLS'], authOptional: true, logger: false },
  onData(stream, { envelope }, done) {
    stream.resume();
    stream.on('end', () =>
      setTimeout(() => {
        count += 1;
        if (envelope.rcptTo.some(({ address }) => address.startsWith('code'))) codes += 1;
        done();
      }, delay),
    );
  },
});
smtp.on('error', () => {});
smtp.listen(0, '127.0.0.1');
await once(smtp.server, 'listening');
const portOf = (address: ReturnType<typeof smtp.server.address>) => (address as AddressInfo).port; // both listen on TCP

const http = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
  if (pathname === '/delay') delay = Number(searchParams.get('ms'));
  response.end(JSON.stringify({ port: portOf(smtp.server.address()), count, codes }));
});
http.listen(0, '127.0.0.1', () => console.log(`ready ${portOf(http.address())}`));
process.on('SIGTERM', () => process.exit(0));
