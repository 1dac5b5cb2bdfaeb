import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { DocumentPages } from '#core/records/visit.ts';
import { addressOf, checkAddress, fetchPages, fetchPageText } from '#visitor/link-api.ts';
import { LoadingRows } from '#visitor/loading-rows.tsx';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { ZoomTools } from './zoom-tools.tsx';
import './pdf-pane.css';

const pagePadding = 32; // CSS pixels on both sides together
const maxFittingWidth = 960; // CSS pixels of a page that is not enlarged
const [widthStep, minWidth, maxWidth] = [128, 256, 4096]; // pixels: few different widths, because the server caches watermarks by size
const maxPixelRatio = 2;

/** Returns the width of the picture for a page, in pixels. */
function pictureWidth(width: number): number {
  const pixels = width * Math.min(window.devicePixelRatio || 1, maxPixelRatio);
  return Math.min(maxWidth, Math.max(minWidth, Math.ceil(pixels / widthStep) * widthStep));
}

/** Returns the text of a page. */
type LoadText = (number: number) => Promise<string>;

/** Loads the texts of a document one after the other, each once: the server limits the requests of a network. */
function textLoader(path: readonly string[]): LoadText {
  const texts = new Map<number, Promise<string>>();
  let last: Promise<unknown> = Promise.resolve();
  return (number) => {
    const known = texts.get(number);
    if (known) return known;
    const text = last.catch(() => {}).then(() => fetchPageText(path, number));
    text.catch(() => texts.delete(number)); // so that the next attempt requests it again
    texts.set(number, text);
    last = text;
    return text;
  };
}

interface TextProperties {
  readonly number: number;
  readonly loadText: LoadText;
  readonly onFailure: (cause: unknown) => void;
}

/** The text of a page, below its picture. */
function PageText({ number, loadText, onFailure }: TextProperties) {
  const { translate } = useTranslation();
  const [text, setText] = useState<string | null>(null);
  useEffect(() => {
    let isClosed = false;
    loadText(number).then(
      (pageText) => isClosed || setText(pageText),
      (cause) => isClosed || onFailure(cause),
    );
    return () => {
      isClosed = true;
    };
  }, []);
  if (text === null) return <p class="muted">{translate('loading')}</p>;
  return text.trim() === '' ? (
    <p class="muted">{translate('noText')}</p>
  ) : (
    <p class="page-text" dir="auto">
      {text}
    </p>
  );
}

interface PageProperties {
  readonly path: readonly string[];
  readonly page: DocumentPages['pages'][number];
  readonly count: number;
  /** CSS pixels. */
  readonly width: number;
  /** `hasText`: the visitor may read the text of the page. `showsText`: the text is shown. */
  readonly hasText: boolean;
  readonly showsText: boolean;
  readonly loadText: LoadText;
  readonly onFailure: (cause: unknown) => void;
}

/** One page as a picture, which the server draws. It is loaded when it comes near the screen. */
function PagePicture({ path, page, count, width, hasText, showsText, loadText, onFailure }: PageProperties) {
  const { translate } = useTranslation();
  const [isLoaded, setLoaded] = useState(false);
  const { number } = page;
  const source = `${addressOf('page', path)}?${new URLSearchParams({ number: String(number), width: String(pictureWidth(width)) })}`;
  const picture = (
    <img
      class={isLoaded ? 'pdf-page' : 'pdf-page drawing'}
      src={source}
      loading="lazy"
      draggable={false}
      width={width}
      height={Math.round((width * page.height) / page.width)}
      alt={translate(hasText ? 'page' : 'pagePicture', { number, count })}
      onLoad={() => setLoaded(true)}
      onError={() => void checkAddress('GET', source).catch(onFailure)}
    />
  );
  return (
    <>
      {picture}
      {showsText && isLoaded && <PageText number={number} loadText={loadText} onFailure={onFailure} />}
    </>
  );
}

interface Properties {
  readonly path: readonly string[];
  readonly name: string;
  /** Whether visitors may read the text of the pages. */
  readonly hasText: boolean;
  readonly onFailure: (cause: unknown) => void;
}

/** Shows the pages that the server draws: those of a protected document, with a watermark, or of an Office document. */
export function PagesPane({ path, name, hasText, onFailure }: Properties) {
  const { translate } = useTranslation();
  const [showsText, setShowsText] = useState(false);
  const loadText = useMemo(() => textLoader(path), []);
  const pane = useRef<HTMLDivElement>(null);
  const [pages, setPages] = useState<DocumentPages['pages'] | null>(null);
  const [scale, setScale] = useState(1);
  useEffect(() => {
    let isClosed = false;
    fetchPages(path).then(
      (document) => isClosed || setPages(document.pages),
      (cause) => isClosed || onFailure(cause),
    );
    return () => {
      isClosed = true;
    };
  }, []);
  const width = Math.round(Math.min(maxFittingWidth, (pane.current?.clientWidth ?? maxFittingWidth) - pagePadding) * scale);
  return (
    <>
      <ZoomTools scale={scale} setScale={setScale}>
        {hasText && (
          <button type="button" class="button" aria-pressed={showsText} onClick={() => setShowsText(!showsText)}>
            {translate('showText')}
          </button>
        )}
      </ZoomTools>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
      <div ref={pane} class="pdf" tabIndex={0} role="document" aria-label={name}>
        {pages ? (
          pages.map((page) => (
            <PagePicture
              key={page.number}
              path={path}
              page={page}
              count={pages.length}
              {...{ width, hasText, showsText, loadText, onFailure }}
            />
          ))
        ) : (
          <LoadingRows />
        )}
      </div>
    </>
  );
}
