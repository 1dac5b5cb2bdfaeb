import { visibleName } from '#core/translations/visible-name.ts';
import { Icon } from '#kit/icons.tsx';
import { addressOf } from '#visitor/link-api.ts';
import { fileIcon, fileKind } from '#visitor/listing/file-kind.ts';
import type { FolderEntry } from '#visitor/listing/use-folder.ts';
import type { LinkPermissions } from '#visitor/offered-permissions.ts';
import { useTranslation } from '#visitor/translations/use-translation.ts';

/** The card for a file without a preview: its name, size and date, and the download. */
export function FileCard({
  name,
  entry,
  path,
  can,
}: {
  name: string;
  entry: FolderEntry | null;
  path: readonly string[];
  can: LinkPermissions;
}) {
  const { translate, format } = useTranslation();
  const isHiddenOffice = entry !== null && fileKind(entry.mediaType) === 'office' && !can.officePages;
  const reason = isHiddenOffice ? 'cannotShowOffice' : 'cannotShow';
  return (
    <div class="card">
      <span class="file-icon">
        <Icon name={entry ? fileIcon(entry) : 'file'} size={48} />
      </span>
      <h2 dir="auto">{visibleName(name)}</h2>
      {entry && (
        <p class="muted">
          {format.size(entry.size)}
          {entry.modifiedDateTime !== null && ` · ${format.day(entry.modifiedDateTime)}`}
        </p>
      )}
      <p>
        {translate(can.onlyMarked ? 'protectedFiles' : reason)} {can.download && translate('downloadInstead')}
      </p>
      {can.download && (
        <a class="button primary" href={addressOf('file', path)} download={name}>
          <Icon name="download" /> {translate('download')}
        </a>
      )}
    </div>
  );
}
