import { useState } from 'preact/hooks';
import { Icon } from '#kit/icons.tsx';
import { addressOf } from '#visitor/link-api.ts';
import { useSpeech } from '#visitor/translations/use-translation.ts';
import { everyEntry, type Wanted } from './use-folder.ts';

const longestAddress = 12_000; // characters: a server takes some 16 KiB of headers

interface Properties {
  readonly path: readonly string[];
  readonly wanted: Wanted;
  /** How many the folder holds of what is wanted. */
  readonly total: number;
  /** Sizes by name. */
  readonly chosen: ReadonlyMap<string, number>;
  readonly setChosen: (chosen: ReadonlyMap<string, number>) => void;
}

/** How many are chosen and how much that is, with the one thing to do with them. */
export function ChoiceBar({ path, wanted, total, chosen, setChosen }: Properties) {
  const { say, format } = useSpeech();
  const [busy, setBusy] = useState(false);
  if (chosen.size === 0) return null;
  const bytes = [...chosen.values()].reduce((sum, size) => sum + size, 0);
  const isWhole = wanted.searchWord === '' && chosen.size === total;
  const names = isWhole ? '' : `?${new URLSearchParams([...chosen.keys()].map((name) => ['name', name]))}`;
  async function chooseAll() {
    setBusy(true);
    const all = await everyEntry(path, wanted).catch(() => []);
    setBusy(false);
    if (all.length > 0) setChosen(new Map(all.map(({ name, size }) => [name, size])));
  }
  return (
    <section class="choice-bar" aria-label={say('chosen', { count: chosen.size })}>
      <span role="status">
        {say('chosen', { count: chosen.size })}
        {bytes > 0 && <span class="quiet small"> {format.size(bytes)}</span>}
      </span>
      <button type="button" class="link-button" onClick={() => setChosen(new Map())}>
        {say('chooseNone')}
      </button>
      {chosen.size < total && (
        <button type="button" class="link-button" onClick={() => void chooseAll()} aria-disabled={busy}>
          {say(busy ? 'loading' : 'chooseAll')}
        </button>
      )}
      {names.length <= longestAddress ? (
        <a class="button primary" href={addressOf('zip', path) + names} download>
          <Icon name="download" /> {say('downloadZip')}
        </a>
      ) : (
        <span class="quiet small">{say('chooseFewer')}</span>
      )}
    </section>
  );
}
