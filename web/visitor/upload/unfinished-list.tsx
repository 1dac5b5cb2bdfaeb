import { useEffect, useState } from 'preact/hooks';
import { Icon } from '#kit/icons.tsx';
import { FileName } from '#visitor/listing/file-name.tsx';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { watchRunningUploads } from './running-uploads.ts';
import { endUpload, fetchState } from './tus-requests.ts';
import { forgetUnfinished, isSameFile, readUnfinished, type UnfinishedUpload } from './unfinished-uploads.ts';
import { FileButton } from './upload-buttons.tsx';
import type { FileToUpload, UploadQueueState } from './upload-item.ts';
import type { UploadQueue } from './upload-queue.ts';

/** An unfinished upload that the server still has. */
interface FoundUpload extends UnfinishedUpload {
  /** Bytes that have arrived. */
  readonly received: number;
}

/** Returns the unfinished uploads of this browser that the server still has. Forgets uploads that are complete by now. */
async function findUploads(): Promise<readonly FoundUpload[]> {
  const uploads = await Promise.all(
    readUnfinished().map(async (upload) => {
      // null: the state is not available, for example because the upload has expired, or because there is no connection.
      const state = await fetchState(upload.address).catch(() => null);
      if (state?.isComplete) forgetUnfinished(upload.address);
      return state && !state.isComplete ? { ...upload, received: state.received } : null;
    }),
  );
  return uploads.filter((upload) => upload !== null);
}

interface LineProperties {
  readonly upload: FoundUpload;
  readonly onFile: (file: FileToUpload) => void;
  readonly onDelete: () => void;
}

function UnfinishedLine({ upload, onFile, onDelete }: LineProperties) {
  const { translate, format } = useTranslation();
  const [isOtherFile, setIsOtherFile] = useState(false);
  const name = upload.path.at(-1) ?? '';
  function choose([chosen]: readonly FileToUpload[]): void {
    if (!chosen) return;
    if (isSameFile(upload, chosen.file)) onFile(chosen);
    else setIsOtherFile(true);
  }
  return (
    <li class="upload">
      <div class="upload-row">
        <FileName name={name} />
        <span class="muted small">{`${format.number(Math.floor((upload.received / upload.size) * 100))} %`}</span>
        <FileButton icon="upload" label={translate('chooseAgain')} className="button" onFiles={choose} attributes={{ multiple: false }} />
        <button type="button" class="icon-button" onClick={onDelete}>
          <Icon name="close" size={18} />
          <span class="for-reader">{translate('doNotUpload', { name })}</span>
        </button>
      </div>
      {isOtherFile && (
        <p class="problem small" role="alert">
          {translate('otherFile', { name, size: format.size(upload.size) })}
        </p>
      )}
    </li>
  );
}

/**
 * The unfinished uploads of this browser that no page sends, such as those that were interrupted when a page was
 * closed. A page cannot open their files again, so the visitor chooses them again.
 * @param signInCount number of sign-ins at this page
 */
export function UnfinishedList({ queue, uploads, signInCount }: { queue: UploadQueueState; uploads: UploadQueue; signInCount: number }) {
  const { translate } = useTranslation();
  const [foundUploads, setFoundUploads] = useState<readonly FoundUpload[]>([]);
  /** Addresses of uploads that a page of this browser sends. */
  const [runningUploads, setRunningUploads] = useState<ReadonlySet<string>>(new Set());
  const update = () => void findUploads().then(setFoundUploads);
  useEffect(
    () =>
      watchRunningUploads(
        (address) => setRunningUploads((before) => new Set(before).add(address)),
        (address) => {
          setRunningUploads((before) => new Set([...before].filter((running) => running !== address)));
          update();
        },
      ),
    [],
  );
  useEffect(update, [signInCount]);
  const remove = (address: string) => setFoundUploads((before) => before.filter((upload) => upload.address !== address));
  const isQueued = ({ path }: FoundUpload) => queue.items.some((item) => item.path.join('/') === path.join('/'));
  const visibleUploads = foundUploads.filter((upload) => !isQueued(upload) && !runningUploads.has(upload.address));
  if (visibleUploads.length === 0) return null;
  return (
    <section class="unfinished" aria-label={translate('unfinishedUploads')}>
      <h2>{translate('unfinishedUploads')}</h2>
      <p class="muted">{translate('unfinishedText')}</p>
      <ul>
        {visibleUploads.map((upload) => (
          <UnfinishedLine
            key={upload.address}
            upload={upload}
            onFile={({ file }) => {
              remove(upload.address);
              uploads.continue(file, upload.path);
            }}
            onDelete={() => {
              remove(upload.address);
              forgetUnfinished(upload.address);
              endUpload(upload.address).catch(() => {}); // if this fails, the server deletes the upload when it expires
            }}
          />
        ))}
      </ul>
    </section>
  );
}
