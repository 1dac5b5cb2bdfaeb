import { lazy, Suspense } from 'preact/compat';
import { useEffect, useState } from 'preact/hooks';
import { fetchBeginning } from '#visitor/link-api.ts';
import { type FileKind, fileKind } from '#visitor/listing/file-kind.ts';
import { LoadingRows } from '#visitor/loading-rows.tsx';
import { useTranslation } from '#visitor/translations/use-translation.ts';

const CsvTable = lazy(() => import('./csv-table.tsx').then(({ CsvTable }) => CsvTable));
const maxBytes = 1 << 20; // more text than anyone reads on a page

interface Properties {
  readonly path: readonly string[];
  readonly name: string;
  /** Whether the file is a table in CSV. */
  readonly isTable: boolean;
  /** Receives the kind of the file if the server detects that it is not text. */
  readonly onKindDetected: (kind: FileKind) => void;
  /** Called if the file is neither text nor of a kind that can be shown. */
  readonly onUnshowable: () => void;
  /** Receives why the request failed. */
  readonly onFailure: (cause: unknown) => void;
}

/**
 * Shows a text file as plain text, including Markdown and source code, and a CSV file as a table. The server detects the type from the
 * content.
 */
export function TextPane({ path, name, isTable, onKindDetected, onUnshowable, onFailure }: Properties) {
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
  if (isTable)
    return (
      <div class="preview-text">
        <Suspense fallback={<LoadingRows />}>
          <CsvTable name={name} {...content} />
        </Suspense>
      </div>
    );
  return (
    <div class="preview-text">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
      <pre tabIndex={0} dir="auto">
        {content.text}
      </pre>
      {content.isCut && <p class="muted small">{translate('firstPart', { size: format.size(maxBytes) })}</p>}
    </div>
  );
}
