import { useState } from 'preact/hooks';
import { useSpeech } from '#visitor/translations/use-translation.ts';
import { type Choice, nameOf, type Sending, type Uploads } from './uploads.ts';

interface Properties {
  readonly one: Sending;
  /** How many more wait for the same answer. */
  readonly others: number;
  readonly uploads: Uploads;
  /** To replace is to delete what was there. */
  readonly canReplace: boolean;
}

/** A name that is there already: what should become of the file. */
export function ExistsQuestion({ one, others, uploads, canReplace }: Properties) {
  const { say } = useSpeech();
  const [forAll, setForAll] = useState(false);
  const choose = (choice: Choice) => () => uploads.answer(one.number, choice, forAll);
  return (
    <fieldset class="exists">
      <legend>{say('existsTitle', { name: nameOf(one) })}</legend>
      <p class="quiet">{say('existsText')}</p>
      {others > 0 && (
        <label class="for-all">
          <input type="checkbox" checked={forAll} onChange={({ currentTarget }) => setForAll(currentTarget.checked)} />
          {say('forAll', { count: others })}
        </label>
      )}
      <div class="exists-choices">
        <button type="button" class="button primary" onClick={choose('both')}>
          {say('keepBoth')}
        </button>
        {canReplace && (
          <button type="button" class="button" onClick={choose('replace')}>
            {say('replace')}
          </button>
        )}
        <button type="button" class="button" onClick={choose('skip')}>
          {say('skip')}
        </button>
      </div>
    </fieldset>
  );
}
