import { visibleName } from '#core/translations/visible-name.ts';
import { Icon } from '#kit/icons.tsx';
import { addressOf } from '#visitor/link-api.ts';
import { iconOf } from '#visitor/listing/file-kind.ts';
import type { Entry } from '#visitor/listing/use-folder.ts';
import type { Can } from '#visitor/offered.ts';
import { useSpeech } from '#visitor/translations/use-translation.ts';

/** What cannot be shown says at least what it is. */
export function FileCard({ name, entry, path, can }: { name: string; entry: Entry | null; path: readonly string[]; can: Can }) {
  const { say, format } = useSpeech();
  return (
    <div class="card">
      <span class="file-icon">
        <Icon name={entry ? iconOf(entry) : 'file'} size={48} />
      </span>
      <h2 dir="auto">{visibleName(name)}</h2>
      {entry && (
        <p class="quiet">
          {format.size(entry.size)} · {format.day(entry.modifiedDateTime)}
        </p>
      )}
      <p>
        {say('cannotShow')} {can.download && say('downloadInstead')}
      </p>
      {can.download && (
        <a class="button primary" href={addressOf('file', path)} download={name}>
          <Icon name="download" /> {say('download')}
        </a>
      )}
    </div>
  );
}
