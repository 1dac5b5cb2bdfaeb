import { useEffect, useState } from 'preact/hooks';
import { FailureCard } from '#visitor/failure-card.tsx';
import { asFailure, type Failure, fetchBeginning } from '#visitor/link-api.ts';
import { type FileKind, fileKind } from '#visitor/listing/file-kind.ts';
import { LoadingRows } from '#visitor/loading-rows.tsx';
import { useReportFailure } from '#visitor/report-failure.ts';
import { useTranslation } from '#visitor/translations/use-translation.ts';

const maxBytes = 1 << 20; // more text than anyone reads on a page

interface Properties {
  readonly path: readonly string[];
  /** Receives the kind of the file if the server detects that it is not text. */
  readonly onKindDetected: (kind: FileKind) => void;
  readonly fail: () => void;
}

/** Shows a text file as plain text, including Markdown and source code. The server detects the type from the content. */
export function TextPane({ path, onKindDetected, fail }: Properties) {
  const { translate, format } = useTranslation();
  const reportFailure = useReportFailure();
  const [content, setContent] = useState<{ readonly text: string; readonly isCut: boolean } | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [retries, setRetries] = useState(0);
  useEffect(() => {
    setFailure(null);
    const abort = new AbortController();
    fetchBeginning(path, maxBytes, abort.signal).then(
      ({ mediaType, text, isCut }) => {
        if (mediaType === 'text/plain') setContent({ text, isCut });
        else if (fileKind(mediaType) === 'unknown') fail();
        else onKindDetected(fileKind(mediaType));
      },
      (cause) => {
        if (abort.signal.aborted) return;
        const viewFailure = asFailure(cause);
        if (viewFailure.code === 'cannotBeViewed') return fail();
        setFailure(viewFailure);
        reportFailure(viewFailure);
      },
    );
    return () => abort.abort();
  }, [path.join('/'), retries]);
  if (failure) return <FailureCard failure={failure} retry={() => setRetries(retries + 1)} onSignOut={null} embedded />;
  if (content === null) return <LoadingRows />;
  return (
    <div class="preview-text">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
      <pre tabIndex={0} dir="auto">
        {content.text}
      </pre>
      {content.isCut && <p class="quiet small">{translate('firstPart', { size: format.size(maxBytes) })}</p>}
    </div>
  );
}
