import { Icon } from '#kit/icons.tsx';
import { addressOf } from '#visitor/link-api.ts';
import { useSpeech } from '#visitor/words/speech.ts';

const longestAddress = 12_000; // characters: a server takes some 16 KiB of headers

interface Properties {
  readonly path: readonly string[];
  /** Sizes by name. */
  readonly chosen: ReadonlyMap<string, number>;
  readonly choose: ReadonlyMap<string, number>;
  readonly setChosen: (chosen: ReadonlyMap<string, number>) => void;
}

/** How many are chosen and how much that is, with the one thing to do with them. */
export function ChoiceBar({ path, chosen, choose, setChosen }: Properties) {
  const { say, format } = useSpeech();
  if (chosen.size === 0) return null;
  const bytes = [...chosen.values()].reduce((sum, size) => sum + size, 0);
  const address = `${addressOf('zip', path)}?${new URLSearchParams([...chosen.keys()].map((name) => ['name', name]))}`;
  return (
    <section class="choice-bar" aria-label={say('chosen', { count: chosen.size })}>
      <span role="status">
        {say('chosen', { count: chosen.size })}
        {bytes > 0 && <span class="quiet small"> {format.size(bytes)}</span>}
      </span>
      <button type="button" class="link-button" onClick={() => setChosen(new Map())}>
        {say('chooseNone')}
      </button>
      {chosen.size < choose.size && (
        <button type="button" class="link-button" onClick={() => setChosen(choose)}>
          {say('chooseAll')}
        </button>
      )}
      {address.length <= longestAddress ? (
        <a class="button primary" href={address} download>
          <Icon name="download" /> {say('downloadZip')}
        </a>
      ) : (
        <span class="quiet small">{say('chooseFewer')}</span>
      )}
    </section>
  );
}
