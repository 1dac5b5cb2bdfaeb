import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, realpathSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import { noBytes } from '#adapters/documents/sandbox/frames.ts';
import { type FairScheduler, fairScheduler } from '#adapters/os/fair-scheduler.ts';
import { DocumentUnusable, RendererUnavailable, type SourceDocument } from '#ports/documents.ts';
import { missingProgram, sandboxCommand } from './sandbox-command.ts';

const limits = { memory: 1024, cpuTime: 20 };
const maxTime = 20_000; // ms, of a conversion
const [maxConversions, maxConversionsOfTenant] = [3, 2]; // at once
const lowPriority = constants.priority.PRIORITY_LOW;
const [maxFailures, failureTime] = [1000, 600_000]; // documents whose conversion has failed, and how long that is known, in ms
const maxProbeTime = 10_000; // ms, of the attempt at the start
const maxPdfBytes = 64 << 20;
const maxErrorBytes = 1000;

// A new profile for each conversion: macros are off in it, and no document can leave anything to the next one.
const options = '--headless --norestore -env:UserInstallation=file:///tmp/profile';
const convertScript = `"$1" ${options} --convert-to pdf document >&2 && exec cat document.pdf`;
const probeScript = `"$1" ${options} --version`;

/** The result of a program. `bytes` is null if it ended with an error, `isStopped` if it took too much time or wrote too much. */
interface ProgramResult {
  readonly bytes: Uint8Array | null;
  readonly error: string;
  readonly isStopped: boolean;
}

/** Collects what a stream contains, at most `maxBytes`. @param onMore called when there is more */
function collect(stream: Readable, maxBytes: number, onMore: () => void): readonly Buffer[] {
  const pieces: Buffer[] = [];
  let length = 0;
  stream.on('data', (piece: Buffer) => {
    length += piece.length;
    if (length <= maxBytes) pieces.push(piece);
    else onMore();
  });
  return pieces;
}

/** Lowers the priority of a process, and of those that it starts. */
function lowerPriority(pid: number): void {
  try {
    setPriority(pid, lowPriority);
  } catch {
    // the process has ended already
  }
}

/** Runs a command with bytes as its standard input. @param time after which it is stopped, in ms */
async function runCommand([command, ...parameters]: [string, ...string[]], input: Uint8Array, time: number): Promise<ProgramResult> {
  const child: ChildProcessByStdio<Writable, Readable, Readable> = spawn(command, parameters, { env: {}, cwd: '/' });
  if (child.pid !== undefined) lowerPriority(child.pid);
  let isStopped = false;
  const stop = () => {
    isStopped = true;
    child.kill('SIGKILL'); // bubblewrap then ends all processes of the sandbox
  };
  const timer = setTimeout(stop, time);
  try {
    const output = collect(child.stdout, maxPdfBytes, stop);
    const errors = collect(child.stderr, maxErrorBytes, () => {});
    child.stdin.on('error', () => {}); // the command has ended, which 'close' reports
    child.stdin.end(input);
    const [code] = await once(child, 'close');
    return { bytes: code === 0 && !isStopped ? Buffer.concat(output) : null, error: Buffer.concat(errors).toString().trim(), isStopped };
  } finally {
    clearTimeout(timer);
  }
}

/** Converts Office documents to PDF with LibreOffice, in a sandbox. */
export class OfficeConverter {
  readonly #program: string;
  #problem: Promise<string | null> | null = null;
  #works = true;
  readonly #inTurn: FairScheduler = fairScheduler(maxConversions, maxConversionsOfTenant);
  /** The conversions that run or wait, by version of the document. */
  readonly #conversions = new Map<string, Promise<Uint8Array>>();
  /** Why documents could not be converted, by version: a slow document must not be converted again and again. */
  readonly #failures = new LRUCache<string, DocumentUnusable>({ max: maxFailures, ttl: failureTime });

  /** @param program path of `soffice` @throws Error if it does not exist */
  constructor(program: string) {
    this.#program = realpathSync(program);
  }

  /** Whether LibreOffice can run in the sandbox, as far as that is known. */
  get works(): boolean {
    return this.#works;
  }

  /** Returns why LibreOffice cannot run in the sandbox; null: it can. It is started once to find out. */
  problem(): Promise<string | null> {
    this.#problem ??= this.#probe();
    return this.#problem;
  }

  async #probe(): Promise<string | null> {
    const problem = await this.#start().catch((cause: Error) => cause.message);
    this.#works = problem === null;
    return problem;
  }

  async #start(): Promise<string | null> {
    const missing = missingProgram();
    if (missing !== null) return `${missing} does not exist`;
    const { bytes, error } = await runCommand(sandboxCommand(this.#program, probeScript, limits), noBytes, maxProbeTime);
    return bytes ? null : error || 'it does not start';
  }

  /** Returns the PDF of a document. Callers that need the same version share one conversion. @throws DocumentUnusable, RendererUnavailable */
  convert({ tid, version, read }: SourceDocument): Promise<Uint8Array> {
    const running = this.#conversions.get(version);
    if (running) return running;
    const failure = this.#failures.get(version);
    if (failure) return Promise.reject(failure);
    const conversion = read()
      .then((document) => this.#inTurn(`${tid}`, () => this.#run(document)))
      .catch((cause: unknown) => {
        if (cause instanceof DocumentUnusable) this.#failures.set(version, cause);
        throw cause;
      })
      .finally(() => this.#conversions.delete(version));
    this.#conversions.set(version, conversion);
    return conversion;
  }

  async #run(document: Uint8Array): Promise<Uint8Array> {
    if ((await this.problem()) !== null) throw new DocumentUnusable('needsLibreOffice');
    const command = sandboxCommand(this.#program, convertScript, limits);
    const { bytes, isStopped } = await runCommand(command, document, maxTime).catch((cause) => {
      throw new RendererUnavailable('the sandbox cannot be started', { cause });
    });
    if (isStopped) throw new DocumentUnusable('tooCostly');
    if (!bytes) throw new DocumentUnusable('damaged');
    return bytes;
  }
}

/** Returns a converter. null: LibreOffice is not installed. @param program path of `soffice`; null: it must not be used */
export const officeConverter = (program: string | null): OfficeConverter | null =>
  program === null || !existsSync(program) ? null : new OfficeConverter(program);
