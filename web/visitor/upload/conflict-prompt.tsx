import { useState } from 'preact/hooks';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { type ConflictChoice, type UploadItem, uploadName } from './upload-item.ts';
import type { UploadQueue } from './upload-queue.ts';

interface Properties {
  readonly item: UploadItem;
  /** The number of other uploads with a conflict. */
  readonly otherConflicts: number;
  readonly uploads: UploadQueue;
  /** Whether to offer a replacement: the link must list its files, and allow deletion besides uploads. */
  readonly canReplace: boolean;
}

/** Asks what to do with an upload whose name already exists. */
export function ConflictPrompt({ item, otherConflicts, uploads, canReplace }: Properties) {
  const { translate } = useTranslation();
  const [forAll, setForAll] = useState(false);
  const choose = (choice: ConflictChoice) => () => uploads.resolveConflict(item.number, choice, forAll);
  return (
    <fieldset class="exists">
      <legend>{translate('existsTitle', { name: uploadName(item) })}</legend>
      <p class="muted">{translate('existsText')}</p>
      {otherConflicts > 0 && (
        <label class="for-all">
          <input type="checkbox" checked={forAll} onChange={({ currentTarget }) => setForAll(currentTarget.checked)} />
          {translate('forAll', { count: otherConflicts })}
        </label>
      )}
      <div class="exists-choices">
        <button type="button" class="button primary" onClick={choose('both')}>
          {translate('keepBoth')}
        </button>
        {canReplace && (
          <button type="button" class="button" onClick={choose('replace')}>
            {translate('replace')}
          </button>
        )}
        <button type="button" class="button" onClick={choose('skip')}>
          {translate('skip')}
        </button>
      </div>
    </fieldset>
  );
}
