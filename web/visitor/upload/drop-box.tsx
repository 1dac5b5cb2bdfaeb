import { useEffect, useMemo } from 'preact/hooks';
import { Icon } from '#kit/icons.tsx';
import type { UploadReceipt } from '#visitor/link-api.ts';
import { FileName } from '#visitor/listing/file-name.tsx';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { touchQuery, useMedia } from '#visitor/use-media.ts';
import { useDropTarget } from './drop-target.tsx';
import { type Quota, QuotaNote } from './quota-note.tsx';
import { UploadButtons } from './upload-buttons.tsx';
import type { FileToUpload, UploadQueueState } from './upload-item.ts';
import type { UploadQueue } from './upload-queue.ts';

/** Returns the blob URL of a text file with the name, size and checksum of each upload. An unknown checksum is a dash. */
function useReceiptFile(receipts: readonly UploadReceipt[]): string {
  const url = useMemo(() => {
    const lines = receipts.map(({ name, size, sha256 }) => `${sha256 ?? '-'}  ${size}  ${name}`);
    return URL.createObjectURL(new Blob([`${new Date().toISOString()}\n${lines.join('\n')}\n`], { type: 'text/plain' }));
  }, [receipts.length]);
  useEffect(() => () => URL.revokeObjectURL(url), [url]);
  return url;
}

function Receipt({ receipts }: { receipts: readonly UploadReceipt[] }) {
  const { translate, format } = useTranslation();
  const file = useReceiptFile(receipts);
  return (
    <section class="receipt">
      <div class="sheet-head">
        <h2>{translate('received')}</h2>
        <a class="link-button" href={file} download="receipt.txt">
          {translate('saveReceipt')}
        </a>
      </div>
      <ul class="rows">
        {receipts.map((receipt) => (
          <li key={receipt.sha256 + receipt.name} class="row receipt-row">
            <span class="done">
              <Icon name="check" />
            </span>
            <FileName name={receipt.name} />
            <span class="muted small" title={translate('bytes', { count: receipt.size })}>
              {format.size(receipt.size)}
            </span>
            {receipt.sha256 !== null && <code class="muted">SHA-256 {receipt.sha256}</code>}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface DropBoxProperties {
  readonly queue: UploadQueueState;
  readonly uploads: UploadQueue;
  /** Whether visitors of this link cannot download the uploaded files. */
  readonly hidesFiles: boolean;
  readonly quota: Quota | null;
}

/** A drop target at a link without a list of files, and a receipt after the upload. */
export function DropBox({ queue, uploads, hidesFiles, quota }: DropBoxProperties) {
  const { translate } = useTranslation();
  const isTouch = useMedia(touchQuery);
  const addFiles = useMemo(() => (files: readonly FileToUpload[]) => uploads.add(files, []), []);
  const isDragging = useDropTarget(addFiles);
  const receipts = queue.items.flatMap(({ receipt }) => receipt ?? []);
  return (
    <>
      <div class={isDragging ? 'drop-box over' : 'drop-box'}>
        <Icon name="upload" size={32} />
        <p>{translate(isTouch ? 'chooseFiles' : 'dropFiles')}</p>
        <span class="tools-actions">
          <UploadButtons onFiles={addFiles} />
        </span>
        <QuotaNote quota={quota} version={queue.completed} />
        {hidesFiles && <p class="muted small">{translate('dropBoxNote')}</p>}
      </div>
      {receipts.length > 0 && <Receipt receipts={receipts} />}
    </>
  );
}
