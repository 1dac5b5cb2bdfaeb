import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import autocannon from 'autocannon';
import { createTransport, type Transporter } from 'nodemailer';
import { memoryFlags } from '../scripts/memory-flags.mjs';
import { shareBody } from '../test/parts/share-body.ts';
import { atLeast, atMost, comparisonFigure, type Figure, measurePairs, percentile } from './figures.ts';
import { sendByQueue } from './minimal-sender.ts';
import { type BenchPostern, startPostern } from './postern.ts';
import { type MeasuredServer, startServer } from './process.ts';

type Note = (figure: Figure) => void;

const rounds = 5;
const floodRounds = 3; // each takes 46 s
const [mailsPerRound, waitingMails, invitationsPerCall, codesPerSecond] = [5000, 100_000, 1000, 1000];

interface MailServer extends MeasuredServer {
  readonly port: number;
  received(): Promise<{ readonly count: number; readonly codes: number }>;
  delay(ms: number): Promise<unknown>;
}

/** Starts a mail server that counts what it receives. */
export async function startMailServer(): Promise<MailServer> {
  const server = await startServer(join(import.meta.dirname, 'servers/smtp.ts'), [], {}, /ready (\d+)/);
  const fetchState = async (path: string): Promise<{ port: number; count: number; codes: number }> =>
    JSON.parse(await (await fetch(server.url + path)).text());
  const { port } = await fetchState('/');
  return { ...server, port, received: () => fetchState('/'), delay: (ms) => fetchState(`/delay?ms=${ms}`) };
}

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5));
}

const filesPerVisitor = 1000;
let nextDownload = 0;
/**
 * Returns a request for autocannon that differs each time. Each visitor downloads each file once, because a repeated download
 * would not be a separate action.
 */
const downloadsOf = (path: string): autocannon.Request => ({
  setupRequest(request) {
    nextDownload += 1;
    const visitor = Math.floor(nextDownload / filesPerVisitor);
    const headers = { ...request.headers, 'x-forwarded-for': `10.${visitor & 255}.${(visitor >> 8) & 255}.1` };
    return { ...request, headers, path: `${path}/${nextDownload % filesPerVisitor}.bin` };
  },
});

let nextNumber = 0;
/**
 * Returns a request for autocannon that comes from another address each time.
 * @param bodyOf returns the body of request number `number`
 */
const fromManyAddresses = (bodyOf: (number: number) => object): autocannon.Request => ({
  setupRequest(request) {
    nextNumber += 1;
    const address = `10.${nextNumber & 255}.${(nextNumber >> 8) & 255}.${(nextNumber >> 16) & 255}`;
    const headers = { ...request.headers, 'x-forwarded-for': address };
    return { ...request, headers, body: JSON.stringify(bodyOf(nextNumber)) };
  },
});

async function measureDownloads(url: string): Promise<number> {
  const requests = [downloadsOf(new URL(url).pathname)];
  const { '2xx': responses, non2xx, duration } = await autocannon({ url, connections: 8, duration: 2, requests });
  if (non2xx > 0) throw new Error(`${url}: ${non2xx} refused`);
  return responses / duration;
}

async function measureAlerts(note: Note, postern: BenchPostern, files: string): Promise<void> {
  mkdirSync(join(files, 'small'));
  for (let number = 0; number < filesPerVisitor; number += 1) writeFileSync(join(files, 'small', `${number}.bin`), Buffer.alloc(1024));
  const createFolderUrl = async (fields: object) => {
    const { viewId } = await postern.call('share/add', { ...shareBody, ...fields });
    return `${postern.url}/s/${viewId}/file/small`;
  };
  const silentUrl = await createFolderUrl({});
  const alertingUrl = await createFolderUrl({ alertDownload: true, notifyEmails: 'ops@example.com' });
  await using minimalServer = await startServer(join(import.meta.dirname, 'servers/minimal-downloads.ts'), [files], {}, /ready (\d+)/);
  const compare = (reference: string, ours: string) =>
    measurePairs(
      rounds,
      () => measureDownloads(reference),
      () => measureDownloads(ours),
      2,
    );
  note(
    atLeast(
      'a download that enqueues an alert, compared with one that does not',
      'downloads/s',
      await compare(silentUrl, alertingUrl),
      0.95,
    ),
  );
  const minimalPair = await compare(`${minimalServer.url}/silent`, `${minimalServer.url}/alert`);
  note(
    comparisonFigure('the same by the smallest program that records each download and its alert in one commit', 'downloads/s', minimalPair),
  );
}

async function invite(postern: BenchPostern, shareId: number, count: number): Promise<void> {
  for (let at = 0; at < count; at += invitationsPerCall) {
    const emails = Array.from({ length: invitationsPerCall }, (_, index) => `user-${at + index}@example.com`).join();
    await postern.call('share/invite', { id: shareId, emails });
  }
}

/** Sends mails. @returns the mails per second, from the call of `send` until all have arrived */
async function mailRate(server: MailServer, send: () => Promise<unknown>): Promise<number> {
  const { count } = await server.received();
  const start = performance.now();
  await send();
  await until(async () => (await server.received()).count >= count + mailsPerRound);
  return mailsPerRound / ((performance.now() - start) / 1000);
}

async function measureSending(note: Note, postern: BenchPostern, server: MailServer, folder: string): Promise<void> {
  const { id } = await postern.call('share/add', shareBody);
  const response = await fetch(`${postern.url}/api/v1/share/previewInvitation`, {
    ...{ method: 'POST', headers: postern.authorization, body: JSON.stringify({ id, emails: 'ann@example.com' }) },
  });
  const { subject, text, html }: Record<'subject' | 'text' | 'html', string> = JSON.parse(await response.text());
  const mailOf = (number: number) => ({ from: 'a@example.com', to: `user-${number}@example.com`, subject, text, html });
  const measureRate = (send: (transport: Transporter) => Promise<unknown>) =>
    mailRate(server, async () => {
      const transport = createTransport({ host: '127.0.0.1', port: server.port, pool: true, maxMessages: 1e9 });
      await send(transport);
      transport.close();
    });
  const sendWithNodemailer = () =>
    measureRate((transport) => Promise.all(Array.from({ length: mailsPerRound }, (_, number) => transport.sendMail(mailOf(number)))));
  const sendMinimally = () => measureRate((transport) => sendByQueue(folder, transport, mailsPerRound, mailOf));
  const pair = await measurePairs(rounds, sendWithNodemailer, () => mailRate(server, () => invite(postern, id, mailsPerRound)));
  note(atLeast('sending e-mails, compared with nodemailer', 'mails/s', pair, 0.8));
  note(
    comparisonFigure(
      'the smallest program that records each outcome, compared with nodemailer',
      'mails/s',
      await measurePairs(rounds, sendWithNodemailer, sendMinimally),
    ),
  );
}

/** Returns the time in ms within which 99 of 100 visits were answered. autocannon's own figure has no fractions. */
async function measureVisits(url: string): Promise<{ p99: number }> {
  const times: number[] = [];
  const ended = Promise.withResolvers<void>();
  const load = autocannon({ url, connections: 4, duration: 10 }, () => ended.resolve());
  load.on('response', (_client, _status, _bytes, time) => times.push(time));
  await ended.promise;
  return { p99: percentile(times, 0.99) };
}

/**
 * Adds waiting test mails: a thousand for each of a hundred rows of `mail_content`. Postern must not be running.
 */
function addWaitingMails(database: string): void {
  using db = new DatabaseSync(database);
  db.exec('BEGIN');
  const content = db.prepare(
    "INSERT INTO mail_content (tid, kind, language, data, pending, created_at) VALUES (1, 'test', 'en', '{}', '', ?) RETURNING id",
  );
  const delivery = db.prepare(
    `INSERT INTO delivery (tid, lane, kind, content_id, turn, recipient, recipient_key, message_id, state, attempts, created_at, due_at, error)
      VALUES (1, 'alerts', 'test', ?, ?, ?, ?, ?, 'waiting', 0, ?, ?, '')`,
  );
  for (let at = 0; at < waitingMails; at += 1000) {
    const { id = 0 } = content.get(Date.now()) ?? {};
    for (let number = at; number < at + 1000; number += 1) {
      const recipient = `waiting-${number}@example.com`;
      delivery.run(id, `mail ${id}`, recipient, recipient, `${number}@example.com`, Date.now(), Date.now());
    }
  }
  db.exec('COMMIT');
}

/** Returns by how many MiB the memory of a bare server grows when a thread sends mails. Visits run before each of the two measurements. */
async function memoryOfThread({ port }: MailServer): Promise<number> {
  await using bare = await startServer(
    join(import.meta.dirname, 'servers/mail-thread.mjs'),
    [`${port}`],
    { MALLOC_ARENA_MAX: '2' },
    /ready (\d+)/,
    memoryFlags,
  );
  for (let round = 0; round < 2; round += 1) await measureVisits(bare.url);
  const before = bare.memory().now;
  await fetch(`${bare.url}/send`);
  for (let round = 0; round < 2; round += 1) await measureVisits(bare.url);
  return bare.memory().now - before;
}

async function measureBacklog(note: Note, data: string, server: MailServer): Promise<void> {
  const measure = async (postern: BenchPostern) => {
    const url = `${postern.url}/s/${(await postern.call('share/add', shareBody)).viewId}/visit`;
    await measureVisits(url);
    const { p99 } = await measureVisits(url);
    return { p99, memory: postern.memory().now };
  };
  const environment = mailEnvironment(server);
  await server.delay(50); // so that the mails wait
  let [before, withMinimalMailer] = Array.from({ length: 2 }, () => ({ p99: 0, memory: 0 }));
  {
    await using postern = await startPostern(data, environment);
    before = await measure(postern);
    await using _mailer = await startServer(
      join(import.meta.dirname, 'servers/mailer.ts'),
      [`${server.port}`, data, '50000'],
      {},
      /ready (\d)/,
    );
    withMinimalMailer = await measure(postern);
  }
  addWaitingMails(join(data, 'postern.db'));
  await using postern = await startPostern(data, environment);
  const withBacklog = await measure(postern);
  const name = `${waitingMails} mails waiting`;
  const slowdown = (what: string, { p99 }: { readonly p99: number }, target: number): Figure => ({
    ...atMost(what, p99 / before.p99, target, 'times'),
    ...{ reference: `${before.p99.toFixed(2)} ms`, ours: `${p99.toFixed(2)} ms`, ratio: (p99 / before.p99).toFixed(2) },
  });
  note(slowdown(`p99 of a visit with ${name}`, withBacklog, 1.1));
  const minimalName = 'p99 of a visit while the smallest mail program runs in a separate process';
  note({ ...slowdown(minimalName, withMinimalMailer, Number.POSITIVE_INFINITY), target: 'none: for comparison' });
  note(atMost(`memory with ${name}, growth`, withBacklog.memory - before.memory, 20, 'MiB'));
  const memory = await memoryOfThread(server);
  const minimalMemory = 'memory of a bare server, growth by a thread that sends mails with nodemailer';
  note({ ...atMost(minimalMemory, memory, Number.POSITIVE_INFINITY, 'MiB'), target: 'none: for comparison' });
  const profile = await postern.call('loginprofile/add', { title: 'Codes', typeId: 4, configuration: '{"allow":["*@example.com"]}' });
  const codeShare = await postern.call('share/add', { ...shareBody, authenticationId: profile.id });
  const start = performance.now();
  await fetch(`${postern.url}/s/${codeShare.viewId}/sign-in/code`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"email":"code@example.com"}' },
  });
  await until(async () => (await server.received()).codes > 0);
  note(atMost(`time until a sign-in code is sent, with ${name}`, (performance.now() - start) / 1000, 10, 's'));
}

/** Measures visits while many networks request codes, and while about as many requests go to another server, which only answers. */
async function measureCodeFlood(note: Note, postern: BenchPostern, server: MailServer, folder: string): Promise<void> {
  const profile = await postern.call('loginprofile/add', { title: 'Flood', typeId: 4, configuration: '{"allow":["*@example.com"]}' });
  const { viewId } = await postern.call('share/add', { ...shareBody, authenticationId: profile.id });
  const visit = `${postern.url}/s/${(await postern.call('share/add', shareBody)).viewId}/visit`;
  const requests = [fromManyAddresses((number) => ({ email: `user-${number}@elsewhere.example` }))];
  const visitsBeside = async (visit: string, url: string, connections: number) => {
    const flood = autocannon({
      ...{ url, method: 'POST', headers: { 'content-type': 'application/json' }, requests },
      ...{ connections, overallRate: Math.max(codesPerSecond, connections), duration: 7 },
    });
    await new Promise((resolve) => setTimeout(resolve, 1500)); // until the queue is full
    const { '2xx': visits, duration } = await autocannon({ url: visit, connections: 4, duration: 4 });
    await flood;
    await new Promise((resolve) => setTimeout(resolve, 16_000)); // until no request waits: Postern processes about 66 of them a second
    return visits / duration;
  };
  // On a thousand of the 1,900 connections, a request waits for its turn. Each of the others sends one request a second, which is refused.
  const compare = (visit: string, codes: string) =>
    measurePairs(
      floodRounds,
      () => visitsBeside(visit, server.url, 50),
      () => visitsBeside(visit, codes, 1900),
    );
  const what = `visits during ${codesPerSecond.toLocaleString('en')} code requests a second, compared with visits while another server gets these requests`;
  note(atLeast(what, 'visits/s', await compare(visit, `${postern.url}/s/${viewId}/sign-in/code`), 0.9));
  await using minimal = await startServer(join(import.meta.dirname, 'servers/minimal-codes.ts'), [folder], {}, /ready (\d+)/);
  const minimalPair = await compare(`${minimal.url}/visit`, `${minimal.url}/code`);
  note(comparisonFigure('the same by the smallest program that commits as many codes and refuses the rest', 'visits/s', minimalPair));
}

/** Returns the settings with which Postern sends to a mail server. */
export const mailEnvironment = (server: MailServer) => ({
  POSTERN_SMTP_URL: `smtp://127.0.0.1:${server.port}`,
  POSTERN_MAIL_FROM: 'files@example.com',
  POSTERN_TRUSTED_PROXIES: '127.0.0.1',
});

/** Measures mail: alerts, sending, floods of requests for codes, and a long queue. @param folder for the data of the Postern processes */
export async function measureMail(note: Note, folder: string): Promise<void> {
  await using server = await startMailServer();
  {
    await using postern = await startPostern(folder, mailEnvironment(server));
    await measureAlerts(note, postern, join(folder, 'files'));
    await measureSending(note, postern, server, folder);
    await measureCodeFlood(note, postern, server, folder);
  }
  await measureBacklog(note, join(folder, 'backlog'), server);
}
