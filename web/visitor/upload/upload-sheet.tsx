import { Icon } from '#kit/icons.tsx';
import { FileName } from '#visitor/listing/file-name.tsx';
import { uploadWords } from '#visitor/translations/sentences.ts';
import { useSpeech } from '#visitor/translations/use-translation.ts';
import { ExistsQuestion } from './exists-question.tsx';
import { canTryAgain, nameOf, type Queue, type Sending, type Uploads } from './uploads.ts';

const mostShown = 100; // lines: a folder of thousands is told by its numbers

function Status({ one }: { one: Sending }) {
  const speech = useSpeech();
  const { say, format } = speech;
  const share = one.file.size === 0 ? 1 : one.sent / one.file.size;
  if (one.state === 'failed') return <span class="problem small">{one.failure && uploadWords(one.failure, nameOf(one), speech)}</span>;
  const words = {
    done: format.size(one.file.size),
    waiting: say('waiting'),
    asking: say('waiting'),
    sending: share < 1 ? `${format.number(Math.floor(share * 100))} %` : say('saving'),
  }[one.state];
  return <span class="quiet small">{words}</span>;
}

function Line({ one, uploads }: { one: Sending; uploads: Uploads }) {
  const { say } = useSpeech();
  const { name } = one.file;
  return (
    <li class="upload">
      <div class="upload-row">
        <FileName name={nameOf(one)} />
        <Status one={one} />
        {canTryAgain(one) && (
          <button type="button" class="link-button" onClick={() => uploads.again(one.number)}>
            {say('tryAgain')}
          </button>
        )}
        {one.state === 'done' ? (
          <span class="done">
            <Icon name="check" size={18} />
            <span class="for-reader">{say('arrived')}</span>
          </span>
        ) : (
          <button type="button" class="icon-button" onClick={() => uploads.cancel(one.number)}>
            <Icon name="close" size={18} />
            <span class="for-reader">{say('notThis', { name })}</span>
          </button>
        )}
      </div>
      {one.state === 'sending' && <progress max={Math.max(1, one.file.size)} value={one.sent} aria-label={name} />}
    </li>
  );
}

/** How much of everything has been sent. */
function Whole({ queue }: { queue: Queue }) {
  const { say, format } = useSpeech();
  const all = queue.all.filter(({ state }) => state !== 'failed');
  const bytes = all.reduce((sum, { file }) => sum + file.size, 0);
  const sent = all.reduce((sum, one) => sum + one.sent, 0);
  return (
    <>
      {queue.speed > 0 && !queue.paused && (
        <span class="quiet small">
          {say('speedLeft', { speed: format.size(queue.speed), time: format.left((bytes - sent) / queue.speed) })}
        </span>
      )}
      <progress class="whole" max={Math.max(1, bytes)} value={sent} aria-label={say('uploads')} />
    </>
  );
}

/** What is on its way, at the foot of the page, while one goes on looking. */
export function UploadSheet({ queue, uploads, receipt, canReplace }: Properties) {
  const { say } = useSpeech();
  const { all, paused } = queue;
  const shown = receipt ? all.filter(({ state }) => state !== 'done') : all;
  if (shown.length === 0) return null;
  const under = all.filter(({ state }) => state === 'waiting' || state === 'sending').length;
  const asking = all.filter(({ state }) => state === 'asking');
  const failed = all.filter(({ state }) => state === 'failed').length;
  const ended = failed > 0 ? say('notArrived', { count: failed }) : say('allArrived');
  const first = asking[0];
  const order = ['asking', 'sending', 'failed', 'waiting', 'done'];
  const lines = [...shown].sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state)).slice(0, mostShown);
  return (
    <section class="sheet" aria-label={say('uploads')}>
      <div class="sheet-head">
        <h2 aria-live="polite">
          {under > 0 ? (paused ? say('paused') : say('uploading', { count: under })) : first ? say('uploads') : ended}
        </h2>
        {under > 0 && <Whole queue={queue} />}
        <span class="sheet-actions">
          {(under > 1 || (under > 0 && paused)) && (
            <button
              type="button"
              class="link-button"
              onClick={paused ? uploads.resume : uploads.pause}
              title={say(paused ? 'resume' : 'pause')}
            >
              <Icon name={paused ? 'play' : 'pause'} size={18} />
              <span class="for-reader">{say(paused ? 'resume' : 'pause')}</span>
            </button>
          )}
          {all.filter(canTryAgain).length > 1 && (
            <button type="button" class="link-button" onClick={uploads.againAll}>
              {say('tryAllAgain')}
            </button>
          )}
          {under === 0 && !first && (
            <button type="button" class="link-button" onClick={uploads.clear}>
              {say('close')}
            </button>
          )}
        </span>
      </div>
      <p class="for-reader" role="status">
        {first && say('existsTitle', { name: nameOf(first) })}
      </p>
      {first && <ExistsQuestion key={first.number} one={first} others={asking.length - 1} uploads={uploads} canReplace={canReplace} />}
      <ul>
        {lines.map((one) => (
          <Line key={one.number} one={one} uploads={uploads} />
        ))}
      </ul>
    </section>
  );
}

interface Properties {
  readonly queue: Queue;
  readonly uploads: Uploads;
  /** What has arrived is told elsewhere. */
  readonly receipt: boolean;
  readonly canReplace: boolean;
}
