// A separate process that sends mails with `minimal-sender.ts`. Arguments: port of the mail server, folder for the queue, number of mails.
import { createTransport } from 'nodemailer';
import { sendByQueue } from '../minimal-sender.ts';

const [port = '', folder = '', count = ''] = process.argv.slice(2);
const transport = createTransport({ host: '127.0.0.1', port: Number(port), pool: true, maxMessages: 1e9 });
process.on('SIGTERM', () => process.exit(0));
console.log('ready 0');
await sendByQueue(folder, transport, Number(count), (number) => ({
  ...{ from: 'a@example.com', to: `user-${number}@example.com`, subject: 'Test e-mail from Postern' },
  ...{ text: 'The mail server works.', html: '<p>The mail server works.</p>' },
}));
