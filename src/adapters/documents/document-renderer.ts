import { type FairScheduler, fairScheduler } from '#adapters/os/fair-scheduler.ts';
import {
  type DocumentSender,
  type Documents,
  DocumentUnusable,
  type PageMark,
  type PagePicture,
  type PageRequest,
  type PageSize,
  RendererUnavailable,
  type SignaturePlace,
  type SignatureText,
  type SourceDocument,
  type Trace,
} from '#ports/documents.ts';
import { CostlyTasks, stopReason } from './costly-tasks.ts';
import { DescribeAnswer } from './image/image-tasks.ts';
import type { OfficeConverter } from './office/office-converter.ts';
import { DrawAnswer, PagesAnswer, PlaceAnswer } from './pdf/pdf-tasks.ts';
import { ProcessLane } from './process-lane.ts';
import { childScript } from './sandbox/child-script.ts';
import { type Frame, noBytes } from './sandbox/frames.ts';
import { parseHeader } from './sandbox/parse-header.ts';
import { TraceAnswer } from './trace/trace-answer.ts';

/** ms. A task that takes longer than the quick time goes on in the process for slow tasks. */
const taskTimes = { quick: 2000, slow: 20_000 };
const limits = { memory: 1024, taskTime: taskTimes.slow, answer: 256 << 20 };
const [maxTasks, maxTasksOfTenant] = [2, 1]; // at each speed
const maxTenants = 4; // whose processes run at a time

type Kind = 'pdf' | 'image';
/** Slow tasks have processes of their own, so that quick ones never wait for them. */
type Speed = 'quick' | 'slow';
type Lanes = Readonly<Record<Kind, ProcessLane>>;

/** @param taskTime ms */
type LaneWork<T> = (lanes: Lanes, taskTime: number) => Promise<T>;

/** The processes of one tenant. */
interface TenantLanes extends AsyncDisposable {
  readonly lanes: Readonly<Record<Speed, Lanes>>;
  tasks: number;
}

/** Returns the same key for tasks that cost about the same: the mark and the size of a picture make little difference. */
const taskKey = ({ version }: SourceDocument, { task, index = null }: Frame['header']) => JSON.stringify([version, task, index]);

const createLanes = (): Lanes => ({
  pdf: new ProcessLane({ ...childScript('pdf-child', import.meta.url), nativeCode: false, limits }),
  image: new ProcessLane({ ...childScript('image-child', import.meta.url), nativeCode: true, limits }),
});

const allLanes = ({ lanes: { quick, slow } }: Pick<TenantLanes, 'lanes'>) => [...Object.values(quick), ...Object.values(slow)];

function createTenantLanes(): TenantLanes {
  const lanes = { quick: createLanes(), slow: createLanes() };
  return {
    ...{ lanes, tasks: 0 },
    async [Symbol.asyncDispose]() {
      await Promise.all(allLanes({ lanes }).map((lane) => lane[Symbol.asyncDispose]()));
    },
  };
}

/** Draws and marks documents in sandboxed processes. Each tenant has its own, so that no document can reach another tenant. */
export class DocumentRenderer implements Documents {
  readonly #turns: Readonly<Record<Speed, FairScheduler>> = {
    quick: fairScheduler(maxTasks, maxTasksOfTenant),
    slow: fairScheduler(maxTasks, maxTasksOfTenant),
  };
  readonly #costly = new CostlyTasks();
  readonly #tenants = new Map<number, TenantLanes>();
  readonly #office: OfficeConverter | null;

  /** @param office null: Office documents cannot be drawn */
  constructor(office: OfficeConverter | null) {
    this.#office = office;
  }

  get drawsOffice(): boolean {
    return this.#office?.works ?? false;
  }

  prepare(tid: number): void {
    const others = [...this.#tenants].filter(([other, tenant]) => other !== tid && allLanes(tenant).some((lane) => lane.isRunning));
    if (others.length >= maxTenants) return;
    const tenant = this.#tenants.get(tid) ?? createTenantLanes();
    this.#tenants.set(tid, tenant);
    tenant.lanes.quick.pdf.prepare({ header: { task: 'warmUp' }, bytes: noBytes });
  }

  async pages(document: SourceDocument): Promise<readonly PageSize[]> {
    if (document.kind !== 'image') return parseHeader(PagesAnswer, (await this.#runOnPdf(document, { task: 'pages' })).header).pages;
    const { header } = await this.#runOnImage(document, { task: 'describe' });
    return [parseHeader(DescribeAnswer, header)];
  }

  async draw(document: SourceDocument, { index, bounds, mark }: PageRequest): Promise<PagePicture> {
    if (document.kind !== 'image') {
      const { header, bytes } = await this.#runOnPdf(document, { task: 'draw', index, ...bounds, mark });
      return { bytes, mediaType: parseHeader(DrawAnswer, header).mediaType };
    }
    if (index > 0) throw new DocumentUnusable('noSuchPage');
    const { bytes } = await this.#runOnImage(document, { task: 'draw', ...bounds, mark });
    return { bytes, mediaType: 'image/jpeg' };
  }

  async text(document: SourceDocument, index: number): Promise<string> {
    if (document.kind === 'image') return '';
    return Buffer.from((await this.#runOnPdf(document, { task: 'text', index })).bytes).toString();
  }

  async mark(document: SourceDocument, mark: PageMark): Promise<Uint8Array> {
    const header = { task: 'mark', mark };
    if (document.kind !== 'image') return (await this.#runOnPdf(document, header)).bytes;
    return (await this.#runOnImage(document, header)).bytes;
  }

  async findTrace(document: SourceDocument, index: number): Promise<Trace | null> {
    this.#costly.noteSlow(document); // a search takes seconds
    const { header } = await (document.kind === 'image'
      ? this.#runOnImage(document, { task: 'trace' })
      : this.#runOnPdf(document, { task: 'trace', index }));
    return parseHeader(TraceAnswer, header).trace;
  }

  async addSignaturePlace(sender: DocumentSender, pdf: Uint8Array, { at, reason }: SignatureText): Promise<SignaturePlace> {
    const task = { header: { task: 'place', at, reason }, bytes: pdf };
    const { header, bytes } = await this.#runAlone(sender, null, 'pdf', task);
    const { kept, start, end } = parseHeader(PlaceAnswer, header);
    return { bytes: Buffer.concat([pdf.subarray(0, kept), bytes]), start, end };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#tenants.values()].map((tenant) => tenant[Symbol.asyncDispose]()));
    this.#tenants.clear();
  }

  /**
   * Runs a task when it is the turn of its sender: in the process for quick tasks, and again in the one for slow tasks if it takes long, or
   * if the sender has sent such tasks lately. Nothing outside of the processes, such as a storage, may be waited for during a turn.
   * @param key see `taskKey`; null: the task is not remembered if it takes too much time or memory
   * @param work may run twice
   */
  async #inTurnOf<T>(sender: DocumentSender, key: string | null, work: LaneWork<T>): Promise<T> {
    if (!this.#costly.isSlow(sender)) {
      try {
        return await this.#inTurnAt('quick', sender, work);
      } catch (cause) {
        if (stopReason(cause) !== 'time') throw this.#remember(key, cause);
        this.#costly.noteSlow(sender);
      }
    }
    try {
      return await this.#inTurnAt('slow', sender, async (lanes, taskTime) => {
        if (key !== null) this.#costly.checkTask(key);
        return work(lanes, taskTime);
      });
    } catch (cause) {
      throw this.#remember(key, cause);
    }
  }

  /** Remembers a task that took too much time or memory. @returns its error */
  #remember(key: string | null, cause: unknown): unknown {
    if (key !== null && cause instanceof DocumentUnusable && stopReason(cause) !== null) this.#costly.noteFailure(key, cause);
    return cause;
  }

  #inTurnAt<T>(speed: Speed, { tid, group }: DocumentSender, work: LaneWork<T>): Promise<T> {
    const run = async () => {
      const tenant = await this.#lanesOf(tid);
      tenant.tasks += 1;
      try {
        return await work(tenant.lanes[speed], taskTimes[speed]);
      } finally {
        tenant.tasks -= 1;
      }
    };
    return this.#turns[speed](`${tid}`, run, group);
  }

  /** Returns the processes of a tenant. Ends those of the tenant that used them longest ago if there are too many. */
  async #lanesOf(tid: number): Promise<TenantLanes> {
    const ofTenant = this.#tenants.get(tid) ?? createTenantLanes();
    this.#tenants.delete(tid);
    this.#tenants.set(tid, ofTenant);
    for (const [other, tenant] of this.#tenants) {
      if (this.#tenants.size <= maxTenants) break;
      if (tenant.tasks > 0 || other === tid) continue;
      this.#tenants.delete(other);
      await tenant[Symbol.asyncDispose]();
    }
    return ofTenant;
  }

  async #runOnImage(document: SourceDocument, header: Frame['header']): Promise<Frame> {
    const key = taskKey(document, header);
    this.#costly.checkTask(key);
    return this.#runAlone(document, key, 'image', { header, bytes: await document.read() });
  }

  /** Runs a task that contains all that it needs. */
  async #runAlone(sender: DocumentSender, key: string | null, kind: Kind, task: Frame): Promise<Frame> {
    const answer = await this.#inTurnOf(sender, key, (lanes, taskTime) => lanes[kind].run(task, taskTime));
    if (!answer) throw new RendererUnavailable('the process asks for a document, although the task contains all that it needs');
    return answer;
  }

  /** Runs a task on a PDF. Sends the document first if the process does not have it. */
  async #runOnPdf(document: SourceDocument, header: Frame['header']): Promise<Frame> {
    const { tid, version } = document;
    const key = taskKey(document, header);
    this.#costly.checkTask(key);
    const task = { header: { ...header, id: version }, bytes: noBytes };
    const speed = this.#costly.isSlow(document) ? 'slow' : 'quick';
    const isOpened = this.#tenants.get(tid)?.lanes[speed].pdf.opened.has(version) ?? false;
    const answer = isOpened ? await this.#inTurnOf(document, key, ({ pdf }, taskTime) => pdf.run(task, taskTime)) : null;
    return answer ?? this.#openPdf(document, key, task);
  }

  /** Sends a PDF to the process, and runs a task on it. */
  async #openPdf(document: SourceDocument, key: string, task: Frame): Promise<Frame> {
    const opening = { header: { task: 'open', id: document.version }, bytes: await this.#readAsPdf(document) };
    const answer = await this.#inTurnOf(document, key, async ({ pdf }, taskTime) => {
      await pdf.run(opening, taskTime);
      pdf.opened.set(document.version, true);
      return pdf.run(task, taskTime);
    });
    if (!answer) throw new RendererUnavailable('the process did not keep the document');
    return answer;
  }

  async #readAsPdf(document: SourceDocument): Promise<Uint8Array> {
    if (document.kind !== 'office') return document.read();
    if (!this.#office) throw new DocumentUnusable('needsLibreOffice');
    return this.#office.convert(document);
  }
}
