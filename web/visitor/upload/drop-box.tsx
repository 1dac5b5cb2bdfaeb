import { useEffect, useMemo } from 'preact/hooks';
import { Icon } from '#kit/icons.tsx';
import type { Received } from '#visitor/link-api.ts';
import { FileName } from '#visitor/listing/file-name.tsx';
import { useSpeech } from '#visitor/translations/use-translation.ts';
import { byTouch, useMedia } from '#visitor/use-media.ts';
import { useDrop } from './drop-target.tsx';
import { UploadButtons } from './upload-buttons.tsx';
import type { Queue, Upload, Uploads } from './uploads.ts';

/** What arrived, as a text to keep. */
function useReceiptFile(kept: readonly Received[]): string {
  const url = useMemo(() => {
    const lines = kept.map(({ name, size, sha256 }) => `${sha256}  ${size}  ${name}`);
    return URL.createObjectURL(new Blob([`${new Date().toISOString()}\n${lines.join('\n')}\n`], { type: 'text/plain' }));
  }, [kept.length]);
  useEffect(() => () => URL.revokeObjectURL(url), [url]);
  return url;
}

function Receipt({ kept }: { kept: readonly Received[] }) {
  const { say, format } = useSpeech();
  const file = useReceiptFile(kept);
  return (
    <section class="receipt">
      <div class="sheet-head">
        <h2>{say('received')}</h2>
        <a class="link-button" href={file} download="receipt.txt">
          {say('saveReceipt')}
        </a>
      </div>
      <ul class="rows">
        {kept.map((one) => (
          <li key={one.sha256 + one.name} class="row receipt-row">
            <span class="done">
              <Icon name="check" />
            </span>
            <FileName name={one.name} />
            <span class="quiet small" title={say('bytes', { count: one.size })}>
              {format.size(one.size)}
            </span>
            <code class="quiet">SHA-256 {one.sha256}</code>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** A link that takes files and shows none: where to drop, and afterwards a receipt. */
export function DropBox({ queue, uploads }: { queue: Queue; uploads: Uploads }) {
  const { say } = useSpeech();
  const touched = useMedia(byTouch);
  const take = useMemo(() => (files: readonly Upload[]) => uploads.add(files, []), []);
  const over = useDrop(take);
  const kept = queue.all.flatMap(({ received }) => received ?? []);
  return (
    <>
      <div class={over ? 'drop-box over' : 'drop-box'}>
        <Icon name="upload" size={32} />
        <p>{say(touched ? 'chooseHere' : 'dropFiles')}</p>
        <span class="tools-actions">
          <UploadButtons take={take} />
        </span>
        <p class="quiet small">{say('dropBoxNote')}</p>
      </div>
      {kept.length > 0 && <Receipt kept={kept} />}
    </>
  );
}
