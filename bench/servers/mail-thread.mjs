// A bare server that starts a thread, which sends mails with nodemailer. bench/mail.ts measures how much memory the thread takes.
// Argument: port of the mail server. The first request for /send starts the thread.
import { createServer } from 'node:http';
import { isMainThread, Worker, workerData } from 'node:worker_threads';

const [connections, heapLimit] = [5, { maxYoungGenerationSizeMb: 2 }];

/** Sends mails over several connections until the process ends. */
async function send(port) {
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({ host: '127.0.0.1', port, pool: true, maxConnections: connections, maxMessages: 1e9 });
  async function work() {
    for (;;)
      await transport.sendMail({
        ...{ from: 'a@example.com', to: 'user@example.com', subject: 'Test e-mail from Postern' },
        ...{ text: 'The mail server works.', html: '<p>The mail server works.</p>' },
      });
  }
  await Promise.all(Array.from({ length: connections }, work));
}

function serve(port) {
  let thread;
  const http = createServer(({ url }, response) => {
    if (url === '/send') thread ??= new Worker(new URL(import.meta.url), { workerData: port, resourceLimits: heapLimit });
    response.end('ok');
  });
  http.listen(0, '127.0.0.1', () => console.log(`ready ${http.address().port}`));
  process.on('SIGTERM', () => process.exit(0));
}

if (isMainThread) serve(Number(process.argv[2]));
else await send(workerData);
