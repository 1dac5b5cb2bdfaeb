import { GlobalWorkerOptions, getDocument, type PDFDocumentProxy, type PDFPageProxy, TextLayer } from 'pdfjs-dist';
import worker from 'pdfjs-dist/build/pdf.worker.min.mjs?url';
import { useEffect, useRef, useState } from 'preact/hooks';
import { LoadingRows } from '#visitor/loading-rows.tsx';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { ZoomTools } from './zoom-tools.tsx';
import './pdf-pane.css';

GlobalWorkerOptions.workerSrc = worker;

const maxPixelRatio = 2; // device pixels per CSS pixel: a higher ratio is not visible and costs memory

/** Draws a page, with an invisible text layer for selection and screen readers. @returns a function that cancels the drawing */
function drawPage(page: PDFPageProxy, scale: number, canvas: HTMLCanvasElement, text: HTMLElement): () => void {
  const viewport = page.getViewport({ scale });
  const ratio = Math.min(window.devicePixelRatio || 1, maxPixelRatio);
  canvas.width = Math.floor(viewport.width * ratio);
  canvas.height = Math.floor(viewport.height * ratio);
  const renderTask = page.render({ canvas, viewport, transform: [ratio, 0, 0, ratio, 0, 0] });
  renderTask.promise.catch(() => {}); // cancelled, or the page is damaged
  text.replaceChildren();
  const layer = new TextLayer({ textContentSource: page.streamTextContent(), container: text, viewport });
  layer.render().catch(() => {});
  return () => {
    renderTask.cancel();
    layer.cancel();
  };
}

/** Returns whether the observed element intersects. The browser can report several changes at once: the last one is the newest. */
const isVisible = (entries: readonly IntersectionObserverEntry[]) => entries.at(-1)?.isIntersecting ?? false;

interface PagesProperties {
  readonly pdf: PDFDocumentProxy;
  readonly scale: number;
  readonly onPageError: () => void;
}

/** One page. It is drawn when it is near the screen. */
function Page({ pdf, number, scale, onPageError }: PagesProperties & { readonly number: number }) {
  const { translate } = useTranslation();
  const box = useRef<HTMLElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const text = useRef<HTMLDivElement>(null);
  const [page, setPage] = useState<PDFPageProxy | null>(null);
  const [isNear, setNear] = useState(number === 1);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => setNear(isVisible(entries)), { rootMargin: '800px' });
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    if (!isNear || page) return;
    let isClosed = false;
    pdf.getPage(number).then(setPage, () => isClosed || onPageError());
    return () => {
      isClosed = true; // closing the PDF also ends the requests with an error
    };
  }, [isNear]);
  useEffect(() => {
    if (!isNear || !page || !canvas.current || !text.current) return;
    return drawPage(page, scale, canvas.current, text.current);
  }, [isNear, page, scale]);
  const { width, height } = page?.getViewport({ scale }) ?? { width: 595 * scale, height: 842 * scale };
  return (
    <section
      ref={box}
      class="pdf-page"
      aria-label={translate('page', { number, count: pdf.numPages })}
      style={{ width: `${width}px`, height: `${height}px`, '--total-scale-factor': String(scale), '--scale-factor': String(scale) }}
    >
      {isNear && <canvas ref={canvas} />}
      {isNear && <div ref={text} class="pdf-text" />}
    </section>
  );
}

const pageBatch = 100; // page elements added to the document at a time

/** The pages. More are added when the end comes near the screen. */
function Pages(properties: PagesProperties) {
  const { pdf } = properties;
  const [pageCount, setPageCount] = useState(pageBatch);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => isVisible(entries) && setPageCount(pageCount + pageBatch), {
      rootMargin: '2000px',
    });
    if (end.current) observer.observe(end.current);
    return () => observer.disconnect();
  }, [pageCount]);
  return (
    <>
      {Array.from({ length: Math.min(pageCount, pdf.numPages) }, (_, index) => (
        <Page key={index} {...properties} number={index + 1} />
      ))}
      {pageCount < pdf.numPages && <div ref={end} />}
    </>
  );
}

interface Properties {
  readonly source: string;
  readonly name: string;
  /** Called if the PDF or its first page cannot be loaded. */
  readonly onError: () => void;
  /** Called if a later page cannot be loaded. This PdfPane does not load it again, because pdf.js caches the error. */
  readonly onPageError: () => void;
}

/** Shows a PDF. Scripts in it never run. */
export function PdfPane({ source, name, onError, onPageError }: Properties) {
  const pane = useRef<HTMLDivElement>(null);
  const [pdf, setPdf] = useState<PDFDocumentProxy | null>(null);
  const [scale, setScale] = useState(1);
  useEffect(() => {
    // No WebAssembly: the page's Content-Security-Policy does not allow it.
    const task = getDocument({
      url: source,
      useWasm: false,
      useSystemFonts: false, // system fonts have other letter widths than the fonts of the document
      enableXfa: false,
      cMapUrl: '/assets/pdf/cmaps/',
      standardFontDataUrl: '/assets/pdf/standard_fonts/',
      wasmUrl: '/assets/pdf/wasm/',
    });
    let isClosed = false;
    const load = async () => {
      const newPdf = await task.promise;
      const firstPage = await newPdf.getPage(1);
      const availableWidth = (pane.current?.clientWidth ?? 800) - 32;
      setScale(Math.min(1.6, availableWidth / firstPage.getViewport({ scale: 1 }).width));
      setPdf(newPdf);
    };
    load().catch(() => {
      if (!isClosed) onError(); // closing also ends the requests with an error
    });
    return () => {
      isClosed = true;
      void task.destroy();
    };
  }, [source]);
  return (
    <>
      <ZoomTools scale={scale} setScale={setScale} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
      <div ref={pane} class="pdf" tabIndex={0} role="document" aria-label={name}>
        {pdf ? <Pages pdf={pdf} scale={scale} onPageError={onPageError} /> : <LoadingRows />}
      </div>
    </>
  );
}
