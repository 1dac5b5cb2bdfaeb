import { existsSync, realpathSync } from 'node:fs';
import { CostlyTasks } from '#adapters/documents/costly-tasks.ts';
import { runCommand } from '#adapters/documents/run-command.ts';
import { noBytes } from '#adapters/documents/sandbox/frames.ts';
import { type FairScheduler, fairScheduler } from '#adapters/os/fair-scheduler.ts';
import { type DocumentSender, DocumentUnusable, RendererUnavailable, type SourceDocument } from '#ports/documents.ts';
import { isInstallation, missingProgram, sandboxCommand } from './sandbox-command.ts';

const memory = 1024; // MiB
const processorTime = 20; // seconds
const ofConversion = { time: 20_000, memory, output: 64 << 20 };
const ofProbe = { ...ofConversion, time: 10_000 };
const [maxConversions, maxConversionsOfTenant] = [3, 2]; // at once
/** At once, of senders who have sent slow documents lately: so each tenant and the others keep a conversion for quick documents. */
const [maxSlow, maxSlowOfTenant] = [2, 1];
const slowTime = 6000; // ms that a quick conversion takes at most
const maxRemembered = 1000; // documents whose conversion has failed, and senders of slow documents

// A new profile for each conversion: macros are off in it, and no document can leave anything to the next one.
const options = '--headless --norestore -env:UserInstallation=file:///tmp/profile';
const convertScript = `"$1" ${options} --convert-to pdf document >&2 && exec cat document.pdf`;
const probeScript = `"$1" ${options} --version`;

/** Converts Office documents to PDF with LibreOffice, in a sandbox. */
export class OfficeConverter {
  readonly #program: string;
  #problem: Promise<string | null> | null = null;
  #works = true;
  readonly #inTurn: FairScheduler = fairScheduler(maxConversions, maxConversionsOfTenant);
  readonly #inSlowTurn: FairScheduler = fairScheduler(maxSlow, maxSlowOfTenant);
  /** Remembers failed documents by version: a slow document must not be converted again and again. */
  readonly #costly = new CostlyTasks(maxRemembered);
  /** The conversions that run or wait, by version of the document. */
  readonly #conversions = new Map<string, Promise<Uint8Array>>();

  /** @param program path of `soffice` @throws Error if it does not exist */
  constructor(program: string) {
    this.#program = realpathSync(program);
  }

  /** Whether LibreOffice can run in the sandbox, as far as that is known. */
  get works(): boolean {
    return this.#works;
  }

  /** Returns why LibreOffice cannot run in the sandbox; null: it can. Starts it to find out, and again after `#start` threw. */
  problem(): Promise<string | null> {
    this.#problem ??= this.#probe();
    return this.#problem;
  }

  async #probe(): Promise<string | null> {
    const problem = await this.#start().catch((cause: Error) => {
      this.#problem = null;
      return cause.message;
    });
    this.#works = problem === null;
    return problem;
  }

  /** @throws Error if a later attempt may succeed */
  async #start(): Promise<string | null> {
    if (!isInstallation(this.#program)) return `${this.#program} is not the program of a LibreOffice installation`;
    const missing = missingProgram();
    if (missing !== null) return `${missing} does not exist`;
    const { end, error } = await runCommand(this.#command(probeScript), noBytes, ofProbe);
    if (end === 'stopped') throw new Error('LibreOffice was stopped before it had started');
    return end === 'done' ? null : error || 'LibreOffice does not start';
  }

  #command(script: string) {
    return sandboxCommand(this.#program, script, { memory, processorTime });
  }

  /**
   * Returns the PDF of a document. Callers that need the same version share one conversion.
   * @throws DocumentUnusable, RendererUnavailable, or as `read`
   */
  async convert(source: SourceDocument): Promise<Uint8Array> {
    const { version, read } = source;
    const running = this.#conversions.get(version);
    if (running) return running;
    this.#costly.checkTask(version);
    const conversion = read()
      .then((document) => this.#runInTurn(source, document))
      .catch((cause: unknown) => {
        if (cause instanceof DocumentUnusable && cause.problem !== 'needsLibreOffice') this.#costly.noteFailure(version, cause);
        throw cause;
      })
      .finally(() => this.#conversions.delete(version));
    this.#conversions.set(version, conversion);
    return conversion;
  }

  #runInTurn(sender: DocumentSender, document: Uint8Array): Promise<Uint8Array> {
    const { tid, group } = sender;
    const run = () => this.#inTurn(`${tid}`, () => this.#runTimed(sender, document), group);
    return this.#costly.isSlow(sender) ? this.#inSlowTurn(`${tid}`, run, group) : run();
  }

  async #runTimed(sender: DocumentSender, document: Uint8Array): Promise<Uint8Array> {
    const start = performance.now();
    try {
      return await this.#run(document);
    } finally {
      if (performance.now() - start > slowTime) this.#costly.noteSlow(sender);
    }
  }

  async #run(document: Uint8Array): Promise<Uint8Array> {
    if ((await this.problem()) !== null) throw new DocumentUnusable('needsLibreOffice');
    const { end, output, error } = await runCommand(this.#command(convertScript), document, ofConversion).catch((cause) => {
      throw new RendererUnavailable('the sandbox cannot be started', { cause });
    });
    if (error.startsWith('bwrap:')) throw new RendererUnavailable(error);
    if (end === 'stopped') throw new DocumentUnusable('tooCostly');
    if (end === 'failed') throw new DocumentUnusable('damaged');
    return output;
  }
}

/** Returns a converter, or null if LibreOffice is missing or must not be used. @param program path of `soffice`; null: do not use it */
export const officeConverter = (program: string | null): OfficeConverter | null =>
  program === null || !existsSync(program) ? null : new OfficeConverter(program);
