import { lazy, Suspense } from 'preact/compat';
import { useEffect, useState } from 'preact/hooks';
import { fetchBeginning } from '#visitor/link-api.ts';
import { type FileKind, fileKind } from '#visitor/listing/file-kind.ts';
import { LoadingRows } from '#visitor/loading-rows.tsx';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { PlainText } from './plain-text.tsx';

const CsvTable = lazy(() => import('./csv-table.tsx').then(({ CsvTable }) => CsvTable));
const MarkdownText = lazy(() => import('./markdown-text.tsx').then(({ MarkdownText }) => MarkdownText));
const maxBytes = 1 << 20; // more text than anyone reads on a page
const maxMarkdown = 1 << 18; // characters; a longer text is shown as it is, because formatting it takes too long

/** How a text is shown: as it is, as a table (CSV), or formatted (Markdown). */
export type TextFormat = 'plain' | 'csv' | 'markdown';

interface Properties {
  readonly path: readonly string[];
  readonly name: string;
  readonly textFormat: TextFormat;
  /** Receives the kind of the file if the server detects that it is not text, but of a kind that can be shown. */
  readonly onKindDetected: (kind: FileKind) => void;
  /** Called if the file is neither text nor of a kind that can be shown. */
  readonly onUnshowable: () => void;
  /** Receives why the request failed. */
  readonly onFailure: (cause: unknown) => void;
}

/**
 * Shows a text file: Markdown with its headings, lists and tables, CSV as a table, and everything else as plain text. The server detects
 * from the content whether a file is text. The file extension shows whether a text is Markdown or CSV.
 */
export function TextPane({ path, name, textFormat, onKindDetected, onUnshowable, onFailure }: Properties) {
  const { translate, format } = useTranslation();
  const [content, setContent] = useState<{ readonly text: string; readonly isCut: boolean } | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    fetchBeginning(path, maxBytes, abort.signal).then(
      ({ mediaType, text, isCut }) => {
        if (mediaType === 'text/plain') setContent({ text, isCut });
        else if (fileKind(mediaType) === 'unknown') onUnshowable();
        else onKindDetected(fileKind(mediaType));
      },
      (cause) => {
        if (!abort.signal.aborted) onFailure(cause);
      },
    );
    return () => abort.abort();
  }, [path.join('/')]);
  if (content === null) return <LoadingRows />;
  if (textFormat === 'csv')
    return (
      <div class="preview-text">
        <Suspense fallback={<LoadingRows />}>
          <CsvTable name={name} {...content} />
        </Suspense>
      </div>
    );
  const isFormatted = textFormat === 'markdown' && content.text.length <= maxMarkdown;
  return (
    <div class="preview-text">
      {isFormatted ? (
        <Suspense fallback={<LoadingRows />}>
          <MarkdownText name={name} text={content.text} />
        </Suspense>
      ) : (
        <PlainText text={content.text} />
      )}
      {content.isCut && <p class="muted small">{translate('firstPart', { size: format.size(maxBytes) })}</p>}
    </div>
  );
}
