import { lazy, Suspense } from 'preact/compat';
import { useEffect, useRef, useState } from 'preact/hooks';
import { visibleName } from '#core/translations/visible-name.ts';
import { Icon, type IconName } from '#kit/icons.tsx';
import { FailureCard } from '#visitor/failure-card.tsx';
import { addressOfLook } from '#visitor/folder-address.ts';
import { addressOf } from '#visitor/link-api.ts';
import { type FileKind, kindOf } from '#visitor/listing/file-kind.ts';
import { FileName } from '#visitor/listing/file-name.tsx';
import type { Entry, Folder } from '#visitor/listing/use-folder.ts';
import type { Can } from '#visitor/offered.ts';
import { useSpeech } from '#visitor/translations/use-translation.ts';
import { Waiting } from '#visitor/waiting.tsx';
import { FileCard } from './file-card.tsx';
import { TextPane } from './text-pane.tsx';

const PdfPane = lazy(() => import('./pdf-pane.tsx').then(({ PdfPane }) => PdfPane));

interface Properties {
  readonly name: string;
  readonly folderPath: readonly string[];
  readonly pathOf: (name: string) => readonly string[];
  readonly folder: Folder;
  readonly can: Can;
  /** Address to go back to; null: back in the history, where the look was opened from. */
  readonly back: string | null;
}

interface PaneProperties {
  readonly path: readonly string[];
  readonly name: string;
  readonly kind: FileKind;
  readonly entry: Entry | null;
  readonly can: Can;
}

/** The file itself, as far as it can be shown. */
function Pane({ path, name, kind, entry, can }: PaneProperties) {
  const [broken, setBroken] = useState(false);
  const [found, setFound] = useState<FileKind>(kind);
  const source = addressOf('view', path);
  const fail = () => setBroken(true);
  if (broken) return <FileCard name={name} entry={entry} path={path} can={can} />;
  if (found === 'image') return <img class="look-image" src={source} alt={name} onError={fail} />;
  // biome-ignore lint/a11y/useMediaCaption: the files are the visitors' own; nobody wrote captions for them
  if (found === 'video') return <video class="look-media" src={source} controls onError={fail} />;
  // biome-ignore lint/a11y/useMediaCaption: as above
  if (found === 'sound') return <audio class="look-sound" src={source} controls onError={fail} />;
  if (found === 'pdf')
    return (
      <Suspense fallback={<Waiting />}>
        <PdfPane source={source} name={name} fail={fail} />
      </Suspense>
    );
  return <TextPane path={path} tell={setFound} fail={fail} />;
}

/** In the place of the look before: one step back leads out of them all. */
const step = (path: readonly string[]) => window.location.replace(addressOfLook(path));
const stepping = (path: readonly string[]) => (event: MouseEvent) => {
  event.preventDefault();
  step(path);
};
/** What is wider than its place scrolls by these keys. */
const scrollsAside = (target: EventTarget | null) => {
  const pane = target instanceof Element ? target.closest('.pdf, pre') : null;
  return pane !== null && pane.scrollWidth > pane.clientWidth;
};

function Step({ entry, icon, words, path }: { entry: Entry | null; icon: IconName; words: string; path: readonly string[] }) {
  if (!entry) return <span class="icon-button" aria-hidden="true" />;
  return (
    <a class="icon-button" href={addressOfLook(path)} title={words} onClick={stepping(path)}>
      <Icon name={icon} />
      <span class="for-reader">{`${words}: ${entry.name}`}</span>
    </a>
  );
}

/** The files beside this one, as the folder is sorted. */
function neighbours(folder: Folder, name: string) {
  const files = folder.known().filter(([, entry]) => !entry.folder);
  const at = files.findIndex(([, entry]) => entry.name === name);
  const entryAt = (index: number) => (at < 0 ? null : (files[index]?.[1] ?? null));
  return { place: files[at]?.[0], entry: entryAt(at), before: entryAt(at - 1), after: entryAt(at + 1) };
}

/** The look at a file fills the page; Escape and the back button close it. */
export function LookAt({ name, folderPath, pathOf, folder, can, back }: Properties) {
  const { say } = useSpeech();
  const dialog = useRef<HTMLDialogElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const { place, entry, before, after } = neighbours(folder, name);
  const lookPath = (one: Entry | null) => (one ? [...folderPath, one.name] : []);
  useEffect(() => {
    const from = document.activeElement;
    dialog.current?.showModal();
    body.current?.focus();
    return () => requestAnimationFrame(() => from instanceof HTMLElement && from.focus());
  }, []);
  useEffect(() => {
    if (place !== undefined && folder.total !== null) folder.need(place, Math.min(place + 2, folder.total));
  });
  useEffect(() => {
    const keys = (event: KeyboardEvent) => {
      if (event.target instanceof HTMLMediaElement || event.altKey || event.ctrlKey || event.metaKey) return;
      if (scrollsAside(event.target)) return;
      const [left, right] = document.documentElement.dir === 'rtl' ? [after, before] : [before, after];
      const next = { ArrowLeft: left, ArrowRight: right }[event.key];
      if (next) step(lookPath(next));
    };
    document.addEventListener('keydown', keys);
    return () => document.removeEventListener('keydown', keys);
  }, [before?.name, after?.name]);
  const close = () => {
    if (back === null) window.history.back();
    else window.location.replace(back);
  };
  const path = pathOf(name);
  const kind = entry ? kindOf(entry.mediaType) : 'unknown';
  return (
    <dialog
      ref={dialog}
      class="look"
      aria-label={visibleName(name)}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
    >
      <header class="look-head">
        <FileName name={name} />
        <Step entry={before} icon="left" words={say('previous')} path={lookPath(before)} />
        <Step entry={after} icon="right" words={say('next')} path={lookPath(after)} />
        {can.download && (
          <a class="icon-button" href={addressOf('file', path)} download={name} title={say('download')}>
            <Icon name="download" />
            <span class="for-reader">{say('downloadNamed', { name })}</span>
          </a>
        )}
        <button type="button" class="icon-button" onClick={close} title={say('close')}>
          <Icon name="close" />
          <span class="for-reader">{say('close')}</span>
        </button>
      </header>
      <div ref={body} class="look-body" tabIndex={-1}>
        {folder.failure && folder.total === null && <FailureCard failure={folder.failure} again={folder.again} leave={null} within />}
        {folder.total !== null && <Pane key={`${name} ${kind}`} path={path} name={name} kind={kind} entry={entry} can={can} />}
      </div>
    </dialog>
  );
}
