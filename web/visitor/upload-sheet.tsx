import { formatLeft, formatSize } from '#kit/format.ts';
import { Icon } from '#kit/icons.tsx';
import { FileName } from './file-name.tsx';
import type { Sending, Uploads } from './uploads.ts';

function Line({ one, uploads }: { one: Sending; uploads: Uploads }) {
  const share = one.file.size === 0 ? 1 : one.sent / one.file.size;
  return (
    <li class="upload">
      <div class="upload-row">
        <FileName name={one.file.name} />
        <span class={one.state === 'failed' ? 'problem small' : 'quiet small'}>
          {one.state === 'done' && formatSize(one.file.size)}
          {one.state === 'waiting' && 'Waiting'}
          {one.state === 'sending' && (share < 1 ? `${Math.floor(share * 100)} %` : 'Saving …')}
          {one.state === 'failed' && one.problem}
        </span>
        {one.state === 'failed' && (
          <button type="button" class="link-button" onClick={() => uploads.again(one.number)}>
            Try again
          </button>
        )}
        {one.state === 'done' ? (
          <span class="done">
            <Icon name="check" size={18} />
            <span class="for-reader">Arrived</span>
          </span>
        ) : (
          <button type="button" class="icon-button" onClick={() => uploads.cancel(one.number)}>
            <Icon name="close" size={18} />
            <span class="for-reader">{`Do not upload ${one.file.name}`}</span>
          </button>
        )}
      </div>
      {one.state === 'sending' && <progress max={1} value={share} aria-label={one.file.name} />}
    </li>
  );
}

/** What is on its way, at the foot of the page, while one goes on looking. */
export function UploadSheet({ uploads, receipt }: { uploads: Uploads; receipt: boolean }) {
  const { all, speed } = uploads;
  const shown = receipt ? all.filter(({ state }) => state !== 'done') : all;
  if (shown.length === 0) return null;
  const under = all.filter(({ state }) => state === 'waiting' || state === 'sending');
  const left = under.reduce((sum, { file, sent }) => sum + file.size - sent, 0);
  const failed = all.filter(({ state }) => state === 'failed').length;
  const title =
    under.length > 0
      ? `Uploading ${under.length} ${under.length === 1 ? 'file' : 'files'}`
      : failed > 0
        ? `${failed} did not arrive`
        : 'Everything has arrived';
  return (
    <section class="sheet" aria-label="Uploads">
      <div class="sheet-head">
        <h2 aria-live="polite">{title}</h2>
        {under.length > 0 && speed > 0 && <span class="quiet small">{`${formatSize(speed)}/s, ${formatLeft(left / speed)} left`}</span>}
        {under.length === 0 && (
          <button type="button" class="link-button" onClick={uploads.clear}>
            Close
          </button>
        )}
      </div>
      <ul>
        {shown.map((one) => (
          <Line key={one.number} one={one} uploads={uploads} />
        ))}
      </ul>
    </section>
  );
}
