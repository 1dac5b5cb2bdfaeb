import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { PDFDocument, StandardFonts } from '@cantoo/pdf-lib';
import { nestedForms } from '../test/parts/document-bombs.ts';
import { isInstalled } from '../test/parts/is-installed.ts';
import { shareBody } from '../test/parts/share-body.ts';
import { atMost, type Figure, measurePairs, percentile } from './figures.ts';
import { type BenchPostern, startPostern } from './postern.ts';

type Note = (figure: Figure) => void;

const rounds = 5;
const pages = 100;
const [dotsPerInch, widthAtDots] = [120, 992]; // A4
const [largeFile, lines] = [10 << 20, 45];
const timeToChoose = 1000; // ms in which a visitor finds a file on the page of a link
const watermark = { waterMarkText: 'For {ip}' };

/** Returns a PDF of A4 pages with text. @param padding bytes that nobody sees */
async function textPdf(count: number, padding = 0): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  for (let index = 0; index < count; index += 1) {
    const page = document.addPage([595, 842]);
    for (let line = 0; line < lines; line += 1)
      page.drawText(`Page ${index + 1}, line ${line}: the quick brown fox jumps over the lazy dog`, {
        x: 50,
        y: 790 - 16 * line,
        size: 11,
        font,
      });
  }
  if (padding > 0) document.context.register(document.context.stream(Buffer.alloc(padding, 7)));
  return document.save({ useObjectStreams: false });
}

const secondsOf = async (work: () => unknown): Promise<number> => {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
};

/** Returns a figure that compares a duration of Postern with that of another program. @param ours returns seconds */
async function compareTimes(what: string, target: number, program: () => unknown, ours: () => Promise<number>): Promise<Figure> {
  const pair = await measurePairs(rounds, () => secondsOf(program), ours);
  return {
    ...atMost(what, pair.ratio, target, 'times'),
    reference: `${pair.reference.toFixed(3)} s`,
    ours: `${pair.ours.toFixed(3)} s`,
    ratio: `${pair.ratio.toFixed(2)} (${pair.spread})`,
  };
}

/** Downloads an address. @throws Error if the response is a refusal */
async function fetchAll(url: string): Promise<void> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(await response.text());
  await response.arrayBuffer();
}

const [nickname, password] = ['signer', 'a password of a file'];

/** Creates an RSA certificate, and an NSS database with it. @returns the database's folder, and the certificate as PKCS #12 in base64 */
function createCertificate(folder: string): { readonly database: string; readonly certificate: string } {
  const [database, file] = [join(folder, 'nss'), join(folder, 'signer.p12')];
  mkdirSync(database, { recursive: true });
  const run = (program: string, ...parameters: string[]) => execFileSync(program, parameters, { cwd: folder, stdio: 'pipe' });
  run(
    'openssl',
    ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '30', '-subj', '/CN=Signer', '-keyout', 'key', '-out', 'own'],
  );
  run('openssl', ...['pkcs12', '-export', '-inkey', 'key', '-in', 'own', '-name', nickname, '-out', file, '-passout', `pass:${password}`]);
  run('certutil', '-N', '-d', `sql:${database}`, '--empty-password');
  run('pk12util', '-i', file, '-d', `sql:${database}`, '-W', password, '-K', '');
  return { database, certificate: readFileSync(file).toString('base64') };
}

/** Measures visits while Postern draws documents that exceed the time or memory limit of a drawing task. */
async function measureBombs(note: Note, postern: BenchPostern, viewId: string, bombs: readonly string[]): Promise<void> {
  const visits = async (count: number): Promise<number> => {
    const times: number[] = [];
    for (let index = 0; index < count; index += 1) times.push(await secondsOf(() => fetchAll(`${postern.url}/s/${viewId}/visit`)));
    return percentile(times, 0.99);
  };
  await visits(200);
  const pair = await measurePairs(
    rounds,
    () => visits(500),
    async () => {
      const drawing = bombs.map((name) =>
        fetch(`${postern.url}/s/${viewId}/page/${name}?number=1`).then((response) => response.arrayBuffer()),
      );
      const p99 = await visits(500);
      await Promise.all(drawing);
      return p99;
    },
  );
  note({
    ...atMost('visits while bombs are drawn, p99, compared with a quiet Postern', pair.ratio, 2, 'times'),
    reference: `${(pair.reference * 1000).toFixed(1)} ms`,
    ours: `${(pair.ours * 1000).toFixed(1)} ms`,
    ratio: `${pair.ratio.toFixed(2)} (${pair.spread})`,
  });
}

/** Starts Postern, opens a link, and draws a page as soon as a visitor could choose a file. @returns the seconds that the page takes */
async function drawFirstPage(data: string, viewId: string): Promise<number> {
  await using postern = await startPostern(data);
  await fetchAll(`${postern.url}/s/${viewId}/visit`);
  await setTimeout(timeToChoose);
  return await secondsOf(() => fetchAll(`${postern.url}/s/${viewId}/page/hundred.pdf?number=1&width=${widthAtDots}`));
}

/** The files of a measurement, and the program with which the drawing of pages is compared. */
interface Bench {
  readonly folder: string;
  readonly data: string;
  readonly fileOf: (name: string) => string;
  readonly drawWithPoppler: (...parameters: string[]) => unknown;
}

/** Measures drawing, marking, signing and bombs in a Postern that already runs. @returns the viewId of a share with a watermark */
async function measureRunning(note: Note, { folder, data, fileOf, drawWithPoppler }: Bench): Promise<string> {
  await using postern = await startPostern(data);
  const marked = (await postern.call('share/add', { ...shareBody, ...watermark })).viewId;
  const signed = (await postern.call('share/add', { ...shareBody, digitalSignature: true })).viewId;
  const link = (viewId: string, path: string) => `${postern.url}/s/${viewId}/${path}`;
  const pageOf = (number: number) => link(marked, `page/hundred.pdf?number=${number}&width=${widthAtDots}`);
  note(
    await compareTimes(
      'marking 100 pages, beside `qpdf --overlay`',
      4,
      () =>
        execFileSync('qpdf', [fileOf('hundred.pdf'), '--overlay', join(folder, 'mark.pdf'), '--repeat=1', '--', join(folder, 'out.pdf')]),
      () => secondsOf(() => fetchAll(link(marked, 'file/hundred.pdf'))),
    ),
  );
  note(
    await compareTimes(
      '100 marked pages as pictures, beside `pdftoppm`',
      2,
      () => drawWithPoppler(),
      () =>
        secondsOf(async () => {
          for (let number = 1; number <= pages; number += 1) await fetchAll(pageOf(number));
        }),
    ),
  );
  let number = 0;
  note(
    await compareTimes(
      'a page of a preview, warm, beside `pdftoppm -l 1`',
      0.5,
      () => drawWithPoppler('-l', '1'),
      () => {
        number += 1;
        return secondsOf(() => fetchAll(pageOf(number)));
      },
    ),
  );
  if (['pdfsig', 'pk12util', 'openssl'].every(isInstalled)) {
    const { database, certificate } = createCertificate(folder);
    await postern.call('signature/update', { certificate, password });
    const parameters = ['-nssdir', database, '-add-signature', '-nick', nickname, '-digest', 'SHA256'];
    note(
      await compareTimes(
        'signing 10 MB, beside `pdfsig -add-signature`',
        1.2,
        () => execFileSync('pdfsig', [...parameters, fileOf('large.pdf'), join(folder, 'signed.pdf')], { stdio: 'pipe' }),
        () => secondsOf(() => fetchAll(link(signed, 'file/large.pdf'))),
      ),
    );
  }
  await measureBombs(note, postern, marked, ['bomb.pdf']);
  return marked;
}

/** Compares drawing, marking and signing with Poppler and qpdf, and measures visits while bombs are drawn. */
export async function measureDocuments(note: Note, folder: string): Promise<void> {
  if (!isInstalled('pdftoppm') || !isInstalled('qpdf')) return console.log('documents are not measured: pdftoppm or qpdf is not installed');
  const data = join(folder, 'data');
  const files = join(data, 'files');
  mkdirSync(files, { recursive: true });
  const fileOf = (name: string) => join(files, name);
  writeFileSync(fileOf('hundred.pdf'), await textPdf(pages));
  writeFileSync(fileOf('large.pdf'), await textPdf(3, largeFile));
  writeFileSync(fileOf('bomb.pdf'), nestedForms());
  writeFileSync(join(folder, 'mark.pdf'), await textPdf(1));
  const drawWithPoppler = (...more: string[]) =>
    execFileSync('pdftoppm', [...more, '-r', `${dotsPerInch}`, '-jpeg', fileOf('hundred.pdf'), join(folder, 'page')]);
  const marked = await measureRunning(note, { folder, data, fileOf, drawWithPoppler });
  const cold = 'first page of a preview, cold, a second after the visit, beside `pdftoppm -l 1`';
  note(
    await compareTimes(
      cold,
      2,
      () => drawWithPoppler('-l', '1'),
      () => drawFirstPage(data, marked),
    ),
  );
}
