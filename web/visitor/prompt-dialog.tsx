import { useEffect, useRef, useState } from 'preact/hooks';
import { asFailure } from './link-api.ts';
import { useReportFailure } from './report-failure.ts';
import { describeFailure, nameErrorKey } from './translations/sentences.ts';
import { useTranslation } from './translations/use-translation.ts';

/** A question to the visitor before an action. */
export interface Prompt {
  readonly title: string;
  readonly text: string;
  /** The initial value of the text field; null: no field. */
  readonly value: string | null;
  readonly action: string;
  readonly isDestructive: boolean;
  readonly run: (value: string) => Promise<void>;
}

/** Trims a typed name, because phone keyboards add a space at the end. An unchanged name stays as it is. */
const trimName = (text: string, initial: string | null) => (text === initial ? text : text.trim());

/** A dialog that asks for a name or a confirmation before an action. Escape closes the dialog; an action that has begun goes on. */
export function PromptDialog({ prompt, close }: { prompt: Prompt; close: (changed: boolean) => void }) {
  const translation = useTranslation();
  const { translate } = translation;
  const dialog = useRef<HTMLDialogElement>(null);
  const [problem, setProblem] = useState('');
  const [isItemGone, setItemGone] = useState(false);
  const reportFailure = useReportFailure();
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    const field = dialog.current?.querySelector('input');
    const dot = field?.value.lastIndexOf('.') ?? -1;
    field?.setSelectionRange(0, dot > 0 ? dot : (field.value.length ?? 0));
    return () => element?.close(); // returns the focus
  }, []);
  async function submit(event: SubmitEvent) {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const value = trimName(String(new FormData(event.currentTarget).get('value') ?? ''), prompt.value);
    setBusy(true);
    try {
      await prompt.run(value);
      close(true);
    } catch (cause) {
      const failure = asFailure(cause);
      const texts: Record<string, string> = {
        itemExists: translate('nameTaken'),
        pathMalformed: translate(nameErrorKey(value)),
        fieldInvalid: translate(nameErrorKey(value)),
      };
      setProblem(texts[failure.code] ?? describeFailure(failure, translation).title);
      setItemGone(failure.code === 'itemAbsent');
      reportFailure(failure);
      setBusy(false);
    }
  }
  return (
    <dialog ref={dialog} onClose={() => close(isItemGone)} aria-labelledby="prompt">
      <form onSubmit={submit} class="fields">
        <h2 id="prompt">{prompt.title}</h2>
        {prompt.text && <p class="muted">{prompt.text}</p>}
        {prompt.value !== null && (
          <label>
            {translate('name')}
            <input
              name="value"
              defaultValue={prompt.value}
              autocomplete="off"
              dir="auto"
              required
              pattern=".*\S.*"
              maxLength={255}
              aria-invalid={problem !== ''}
              aria-describedby="prompt-problem"
            />
          </label>
        )}
        <p class="problem" role="alert" id="prompt-problem">
          {problem}
        </p>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={() => dialog.current?.close()}>
            {translate('cancel')}
          </button>
          {!isItemGone && (
            <button type="submit" class={prompt.isDestructive ? 'button danger' : 'button primary'} disabled={busy}>
              {prompt.action}
            </button>
          )}
        </div>
      </form>
    </dialog>
  );
}
