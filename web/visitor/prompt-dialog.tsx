import { useEffect, useRef, useState } from 'preact/hooks';
import { asFailure } from './link-api.ts';
import { useRefused } from './refused.ts';
import { failureWords, nameErrorText } from './translations/sentences.ts';
import { useSpeech } from './translations/use-translation.ts';

/** What is asked before something changes. */
export interface Question {
  readonly title: string;
  readonly text: string;
  /** What the field holds at first; null: there is no field. */
  readonly value: string | null;
  readonly action: string;
  readonly loss: boolean;
  readonly run: (value: string) => Promise<void>;
}

/** Trimmed, as what a phone types ends with a space; what was there before stays as it was. */
const nameIn = (text: string, before: string | null) => (text === before ? text : text.trim());

/** A question in front of the page; Escape leaves everything as it is. */
export function AskDialog({ question, close }: { question: Question; close: (changed: boolean) => void }) {
  const speech = useSpeech();
  const { say } = speech;
  const dialog = useRef<HTMLDialogElement>(null);
  const [problem, setProblem] = useState('');
  const [isGone, setGone] = useState(false);
  const refused = useRefused();
  const [busy, setBusy] = useState(false);
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    const field = dialog.current?.querySelector('input');
    const dot = field?.value.lastIndexOf('.') ?? -1;
    field?.setSelectionRange(0, dot > 0 ? dot : (field.value.length ?? 0));
    return () => element?.close(); // gives the focus back
  }, []);
  async function submit(event: SubmitEvent) {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const value = nameIn(String(new FormData(event.currentTarget).get('value') ?? ''), question.value);
    setBusy(true);
    try {
      await question.run(value);
      close(true);
    } catch (cause) {
      const failure = asFailure(cause);
      const words: Record<string, string> = {
        itemExists: say('nameTaken'),
        pathMalformed: say(nameErrorText(value)),
        fieldInvalid: say(nameErrorText(value)),
      };
      setProblem(words[failure.code] ?? failureWords(failure, speech).title);
      setGone(failure.code === 'itemAbsent');
      refused(failure);
      setBusy(false);
    }
  }
  return (
    <dialog ref={dialog} onClose={() => close(isGone)} aria-labelledby="question">
      <form onSubmit={submit} class="fields">
        <h2 id="question">{question.title}</h2>
        {question.text && <p class="quiet">{question.text}</p>}
        {question.value !== null && (
          <label>
            {say('name')}
            <input
              name="value"
              defaultValue={question.value}
              autocomplete="off"
              dir="auto"
              required
              pattern=".*\S.*"
              maxLength={255}
              aria-invalid={problem !== ''}
              aria-describedby="refused"
            />
          </label>
        )}
        <p class="problem" role="alert" id="refused">
          {problem}
        </p>
        <div class="dialog-actions">
          <button type="button" class="button" onClick={() => dialog.current?.close()}>
            {say('cancel')}
          </button>
          {!isGone && (
            <button type="submit" class={question.loss ? 'button loss' : 'button primary'} disabled={busy}>
              {question.action}
            </button>
          )}
        </div>
      </form>
    </dialog>
  );
}
