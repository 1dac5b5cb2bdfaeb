import { GlobalWorkerOptions, getDocument, type PDFDocumentProxy, type PDFPageProxy, TextLayer } from 'pdfjs-dist';
import worker from 'pdfjs-dist/build/pdf.worker.min.mjs?url';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '#kit/icons.tsx';
import { useSpeech } from '#visitor/translations/use-translation.ts';
import { Waiting } from '#visitor/waiting.tsx';
import './pdf-pane.css';

GlobalWorkerOptions.workerSrc = worker;

const [smallest, largest, step] = [0.25, 4, 1.25];
const sharpest = 2; // device pixels for one of CSS: more is not seen and costs memory

/** Draws a page and lays its text over it, to be chosen and read aloud. @returns to be called to give it up */
function draw(page: PDFPageProxy, scale: number, canvas: HTMLCanvasElement, text: HTMLElement): () => void {
  const viewport = page.getViewport({ scale });
  const ratio = Math.min(window.devicePixelRatio || 1, sharpest);
  canvas.width = Math.floor(viewport.width * ratio);
  canvas.height = Math.floor(viewport.height * ratio);
  const drawing = page.render({ canvas, viewport, transform: [ratio, 0, 0, ratio, 0, 0] });
  drawing.promise.catch(() => {}); // given up
  text.replaceChildren();
  const layer = new TextLayer({ textContentSource: page.streamTextContent(), container: text, viewport });
  layer.render().catch(() => {});
  return () => {
    drawing.cancel();
    layer.cancel();
  };
}

/** One page, drawn once it comes near. */
function Page({ pdf, number, scale }: { pdf: PDFDocumentProxy; number: number; scale: number }) {
  const { say } = useSpeech();
  const box = useRef<HTMLElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const text = useRef<HTMLDivElement>(null);
  const [page, setPage] = useState<PDFPageProxy | null>(null);
  const [near, setNear] = useState(number === 1);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => setNear(entry?.isIntersecting ?? false), { rootMargin: '800px' });
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (near && !page) void pdf.getPage(number).then(setPage);
  }, [near]);
  useEffect(() => {
    if (!near || !page || !canvas.current || !text.current) return;
    return draw(page, scale, canvas.current, text.current);
  }, [near, page, scale]);
  const { width, height } = page?.getViewport({ scale }) ?? { width: 595 * scale, height: 842 * scale };
  return (
    <section
      ref={box}
      class="pdf-page"
      aria-label={say('page', { number, count: pdf.numPages })}
      style={{ width: `${width}px`, height: `${height}px`, '--total-scale-factor': String(scale), '--scale-factor': String(scale) }}
    >
      {near && <canvas ref={canvas} />}
      {near && <div ref={text} class="pdf-text" />}
    </section>
  );
}

const atOnce = 100; // pages that have a place in the document; more are laid out as one comes near the last

function Pages({ pdf, scale }: { pdf: PDFDocumentProxy; scale: number }) {
  const [laid, setLaid] = useState(atOnce);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && setLaid(laid + atOnce), { rootMargin: '2000px' });
    if (end.current) observer.observe(end.current);
    return () => observer.disconnect();
  }, [laid]);
  return (
    <>
      {Array.from({ length: Math.min(laid, pdf.numPages) }, (_, index) => (
        <Page key={index} pdf={pdf} number={index + 1} scale={scale} />
      ))}
      {laid < pdf.numPages && <div ref={end} />}
    </>
  );
}

/** A PDF, page below page. Scripts in it are never run. */
export function PdfPane({ source, name, fail }: { source: string; name: string; fail: () => void }) {
  const { say, format } = useSpeech();
  const pane = useRef<HTMLDivElement>(null);
  const [pdf, setPdf] = useState<PDFDocumentProxy | null>(null);
  const [scale, setScale] = useState(1);
  useEffect(() => {
    // Without WebAssembly: the page's policy lets no code be made.
    const task = getDocument({
      url: source,
      useWasm: false,
      useSystemFonts: false, // their letters have other widths than the page was set in
      enableXfa: false,
      cMapUrl: '/assets/pdf/cmaps/',
      standardFontDataUrl: '/assets/pdf/standard_fonts/',
      wasmUrl: '/assets/pdf/wasm/',
    });
    task.promise.then(async (found) => {
      const first = await found.getPage(1);
      const room = (pane.current?.clientWidth ?? 800) - 32;
      setScale(Math.min(1.6, room / first.getViewport({ scale: 1 }).width));
      setPdf(found);
    }, fail);
    return () => void task.destroy();
  }, [source]);
  const zoom = (by: number) => setScale(Math.min(largest, Math.max(smallest, scale * by)));
  return (
    <>
      <div class="pdf-tools">
        <button type="button" class="icon-button" onClick={() => zoom(1 / step)} disabled={scale <= smallest}>
          <Icon name="minus" />
          <span class="for-reader">{say('smaller')}</span>
        </button>
        <span class="small">{format.number(Math.round(scale * 100))} %</span>
        <button type="button" class="icon-button" onClick={() => zoom(step)} disabled={scale >= largest}>
          <Icon name="plus" />
          <span class="for-reader">{say('larger')}</span>
        </button>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <div ref={pane} class="pdf" tabIndex={0} role="document" aria-label={name}>
        {pdf ? <Pages pdf={pdf} scale={scale} /> : <Waiting />}
      </div>
    </>
  );
}
