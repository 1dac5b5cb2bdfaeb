import { useEffect, useState } from 'preact/hooks';
import { asFailure, beginningOf, type Failure } from '#visitor/link-api.ts';
import { type FileKind, kindOf } from '#visitor/listing/file-kind.ts';
import { failureWords } from '#visitor/translations/sentences.ts';
import { useSpeech } from '#visitor/translations/use-translation.ts';
import { Waiting } from '#visitor/waiting.tsx';

const most = 1 << 20; // bytes: more text than anybody reads on a page

interface Properties {
  readonly path: readonly string[];
  /** It turned out to be something else. */
  readonly tell: (kind: FileKind) => void;
  readonly fail: () => void;
}

/** A text as it is: Markdown and code, too. What it turns out to be is told by its bytes. */
export function TextPane({ path, tell, fail }: Properties) {
  const speech = useSpeech();
  const { say, format } = speech;
  const [text, setText] = useState<string | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    beginningOf(path, most, abort.signal).then(
      ({ mediaType, text: found }) => {
        if (mediaType === 'text/plain') setText(found);
        else if (kindOf(mediaType) === 'unknown') fail();
        else tell(kindOf(mediaType));
      },
      (cause) => {
        if (abort.signal.aborted) return;
        const found = asFailure(cause);
        if (found.code === 'cannotBeViewed') fail();
        else setFailure(found);
      },
    );
    return () => abort.abort();
  }, [path.join('/')]);
  if (failure) {
    const { title, advice } = failureWords(failure, speech);
    return (
      <div class="card">
        <h2>{title}</h2>
        <p class="quiet">{advice}</p>
      </div>
    );
  }
  if (text === null) return <Waiting />;
  return (
    <div class="look-text">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard */}
      <pre tabIndex={0} dir="auto">
        {text}
      </pre>
      {text.length >= most / 4 && new TextEncoder().encode(text).length >= most && (
        <p class="quiet small">{say('firstPart', { size: format.size(most) })}</p>
      )}
    </div>
  );
}
