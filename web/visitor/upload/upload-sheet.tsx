import { Icon } from '#kit/icons.tsx';
import { FileName } from '#visitor/listing/file-name.tsx';
import { describeUploadFailure } from '#visitor/translations/sentences.ts';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { ConflictPrompt } from './conflict-prompt.tsx';
import { canRetry, type UploadItem, type UploadQueueState, uploadName } from './upload-item.ts';
import type { UploadQueue } from './upload-queue.ts';

const maxLines = 100; // for more uploads, the totals are enough

function Status({ item }: { item: UploadItem }) {
  const translation = useTranslation();
  const { translate, format } = translation;
  const progress = item.file.size === 0 ? 1 : item.sent / item.file.size;
  if (item.state === 'failed')
    return <span class="problem small lines">{item.failure && describeUploadFailure(item.failure, uploadName(item), translation)}</span>;
  if (item.state === 'sending' && item.isInterrupted) return <span class="muted small">{translate('willContinue')}</span>;
  const text = {
    done: format.size(item.file.size),
    waiting: translate('waiting'),
    conflict: translate('waiting'),
    sending: progress < 1 ? `${format.number(Math.floor(progress * 100))} %` : translate('saving'),
  }[item.state];
  return <span class="muted small">{text}</span>;
}

function Line({ item, uploads }: { item: UploadItem; uploads: UploadQueue }) {
  const { translate } = useTranslation();
  const name = uploadName(item);
  return (
    <li class="upload">
      <div class="upload-row">
        <FileName name={name} />
        <Status item={item} />
        {canRetry(item) && (
          <button type="button" class="link-button" onClick={() => uploads.retry(item.number)}>
            {translate('tryAgain')}
          </button>
        )}
        {item.state === 'done' ? (
          <span class="done">
            <Icon name="check" size={18} />
            <span class="for-reader">{translate('uploaded')}</span>
          </span>
        ) : (
          <button type="button" class="icon-button" onClick={() => uploads.cancel(item.number)}>
            <Icon name="close" size={18} />
            <span class="for-reader">{translate('doNotUpload', { name })}</span>
          </button>
        )}
      </div>
      {item.state === 'sending' && <progress max={Math.max(1, item.file.size)} value={item.sent} aria-label={name} />}
    </li>
  );
}

/** The speed, the remaining time and the progress of all uploads together, without those that failed. */
function TotalProgress({ queue }: { queue: UploadQueueState }) {
  const { translate, format } = useTranslation();
  const items = queue.items.filter(({ state }) => state !== 'failed');
  const bytes = items.reduce((sum, { file }) => sum + file.size, 0);
  const sent = items.reduce((sum, item) => sum + item.sent, 0);
  return (
    <>
      {queue.speed > 0 && !queue.isPaused && (
        <span class="muted small">
          {translate('speedLeft', { speed: format.size(queue.speed), time: format.remaining((bytes - sent) / queue.speed) })}
        </span>
      )}
      <progress class="total" max={Math.max(1, bytes)} value={sent} aria-label={translate('uploads')} />
    </>
  );
}

interface Properties {
  readonly queue: UploadQueueState;
  readonly uploads: UploadQueue;
  /** Whether the page lists completed uploads in a receipt. They are then not listed here. */
  readonly hasReceipt: boolean;
  readonly canReplace: boolean;
}

/** The uploads, at the bottom of the page. The page above them stays usable. */
export function UploadSheet({ queue, uploads, hasReceipt, canReplace }: Properties) {
  const { translate } = useTranslation();
  const { items, isPaused } = queue;
  const listedItems = hasReceipt ? items.filter(({ state }) => state !== 'done') : items;
  if (listedItems.length === 0) return null;
  const pendingCount = items.filter(({ state }) => state === 'waiting' || state === 'sending').length;
  const conflicts = items.filter(({ state }) => state === 'conflict');
  const failedCount = items.filter(({ state }) => state === 'failed').length;
  const result = failedCount > 0 ? translate('notUploaded', { count: failedCount }) : translate('allUploaded');
  const conflict = conflicts[0];
  const order = ['conflict', 'sending', 'failed', 'waiting', 'done'];
  const lines = [...listedItems].sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state)).slice(0, maxLines);
  const pauseLabel = translate(isPaused ? 'resume' : 'pause');
  return (
    <section class="sheet" aria-label={translate('uploads')}>
      <div class="sheet-head">
        <h2 aria-live="polite">
          {pendingCount > 0
            ? isPaused
              ? translate('paused')
              : translate('uploading', { count: pendingCount })
            : conflict
              ? translate('uploads')
              : result}
        </h2>
        {pendingCount > 0 && <TotalProgress queue={queue} />}
        <span class="sheet-actions">
          {(pendingCount > 1 || (pendingCount > 0 && isPaused)) && (
            <button type="button" class="link-button" onClick={() => (isPaused ? uploads.resume() : uploads.pause())} title={pauseLabel}>
              <Icon name={isPaused ? 'play' : 'pause'} size={18} />
              <span class="for-reader">{pauseLabel}</span>
            </button>
          )}
          {items.filter(canRetry).length > 1 && (
            <button type="button" class="link-button" onClick={() => uploads.retryAll()}>
              {translate('tryAllAgain')}
            </button>
          )}
          {pendingCount === 0 && !conflict && (
            <button type="button" class="link-button" onClick={() => uploads.clear()}>
              {translate('close')}
            </button>
          )}
        </span>
      </div>
      <p class="for-reader" role="status">
        {conflict && translate('existsTitle', { name: uploadName(conflict) })}
      </p>
      {conflict && (
        <ConflictPrompt
          key={conflict.number}
          item={conflict}
          otherConflicts={conflicts.length - 1}
          uploads={uploads}
          canReplace={canReplace}
        />
      )}
      <ul>
        {lines.map((item) => (
          <Line key={item.number} item={item} uploads={uploads} />
        ))}
      </ul>
    </section>
  );
}
