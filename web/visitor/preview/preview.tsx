import { lazy, Suspense } from 'preact/compat';
import { useEffect, useRef, useState } from 'preact/hooks';
import { visibleName } from '#core/translations/visible-name.ts';
import { Icon, type IconName } from '#kit/icons.tsx';
import { FailureCard } from '#visitor/failure-card.tsx';
import { previewAddress } from '#visitor/folder-address.ts';
import { addressOf, asFailure, checkAddress, type Failure } from '#visitor/link-api.ts';
import { type FileKind, fileKind } from '#visitor/listing/file-kind.ts';
import { FileName } from '#visitor/listing/file-name.tsx';
import type { Folder, FolderEntry } from '#visitor/listing/use-folder.ts';
import { LoadingRows } from '#visitor/loading-rows.tsx';
import { filePermissions, type LinkPermissions } from '#visitor/offered-permissions.ts';
import { useReportFailure } from '#visitor/report-failure.ts';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { FileCard } from './file-card.tsx';
import { type TextFormat, TextPane } from './text-pane.tsx';

const PagesPane = lazy(() => import('./pages-pane.tsx').then(({ PagesPane }) => PagesPane));
const PdfPane = lazy(() => import('./pdf-pane.tsx').then(({ PdfPane }) => PdfPane));

/** Codes of failures that mean that the preview can never show the file. */
const unshowableCodes = ['cannotBeViewed', 'cannotBeMarked', 'hasNoPages', 'documentTooLarge'];

interface Properties {
  readonly name: string;
  readonly folderPath: readonly string[];
  readonly pathOf: (name: string) => readonly string[];
  readonly folder: Folder;
  readonly can: LinkPermissions;
  /** The address to open on close; null: one step back in the browser history, to the list. */
  readonly closeAddress: string | null;
}

interface PaneProperties {
  readonly path: readonly string[];
  readonly name: string;
  readonly kind: FileKind;
  readonly entry: FolderEntry | null;
  readonly can: LinkPermissions;
}

/**
 * Returns why the file is not shown, and functions that receive errors of its pane.
 * @param source address of the file
 */
function usePaneErrors(source: string) {
  const reportFailure = useReportFailure();
  const [isUnshowable, setUnshowable] = useState(false);
  const [failure, setFailure] = useState<Failure | null>(null);
  /** How often the pane was created again. */
  const [retries, setRetries] = useState(0);
  const onUnshowable = () => setUnshowable(true);
  const onFailure = (cause: unknown) => {
    const viewFailure = asFailure(cause);
    if (unshowableCodes.includes(viewFailure.code)) return onUnshowable();
    setFailure(viewFailure);
    reportFailure(viewFailure);
  };
  const retry = () => {
    setFailure(null);
    setRetries(retries + 1);
  };
  /** Asks the server for the reason: the error event of an image, video, audio file or PDF does not contain the reason. */
  const onError = () =>
    // If the server reports no error, the connection may have been lost for a moment, so the first error causes one retry.
    void checkAddress('HEAD', source).then(retries === 0 ? retry : onUnshowable, onFailure);
  /** As `onError`, but if a page of a PDF is damaged, its other pages are still shown. */
  const onPageError = () => void checkAddress('HEAD', source).then(() => retries === 0 && retry(), onFailure);
  return { isUnshowable, failure, retries, retry, onUnshowable, onFailure, onError, onPageError };
}

const textFormats: Readonly<Record<string, TextFormat>> = {
  'text/csv': 'csv',
  'text/tab-separated-values': 'csv',
  'text/markdown': 'markdown',
};

/** A visitor who may not download a photo sees a picture of it: the original can contain the place where it was taken. */
const hasHiddenMetadata = (kind: FileKind, entry: FolderEntry | null, can: LinkPermissions) =>
  kind === 'image' && !can.download && entry?.mediaType !== 'image/gif';

/** Shows the file by its kind, or a card if it cannot be shown. */
function Pane({ path, name, kind, entry, can }: PaneProperties) {
  const [currentKind, setCurrentKind] = useState<FileKind>(kind);
  const source = addressOf('view', path);
  const { isUnshowable, failure, retries, retry, onUnshowable, onFailure, onError, onPageError } = usePaneErrors(source);
  if (isUnshowable) return <FileCard name={name} entry={entry} path={path} can={can} />;
  if (failure) return <FailureCard failure={failure} retry={retry} onSignOut={null} embedded />;
  if (can.onlyMarked || (kind === 'office' && can.officePages) || hasHiddenMetadata(kind, entry, can))
    return (
      <Suspense fallback={<LoadingRows />}>
        <PagesPane key={retries} path={path} name={name} hasText={can.pageText} onFailure={onFailure} />
      </Suspense>
    );
  if (currentKind === 'image') return <img key={retries} class="preview-image" src={source} alt={name} onError={onError} />;
  // biome-ignore lint/a11y/useMediaCaption: the shared files have no captions
  if (currentKind === 'video') return <video key={retries} class="preview-media" src={source} controls onError={onError} />;
  // biome-ignore lint/a11y/useMediaCaption: as above
  if (currentKind === 'audio') return <audio key={retries} class="preview-audio" src={source} controls onError={onError} />;
  if (currentKind === 'pdf')
    return (
      <Suspense fallback={<LoadingRows />}>
        <PdfPane key={retries} source={source} name={name} onError={onError} onPageError={onPageError} />
      </Suspense>
    );
  const textFormat = textFormats[entry?.mediaType ?? ''] ?? 'plain';
  return (
    <TextPane
      path={path}
      name={name}
      textFormat={textFormat}
      onKindDetected={setCurrentKind}
      onUnshowable={onUnshowable}
      onFailure={onFailure}
    />
  );
}

/** Shows another file in the preview. It replaces the history entry, so that one step back always closes the preview. */
const showFile = (path: readonly string[]) => window.location.replace(previewAddress(path));
const onFileLink = (path: readonly string[]) => (event: MouseEvent) => {
  event.preventDefault();
  showFile(path);
};
/** Returns whether the arrow keys scroll the content sideways, because it is wider than its pane. */
const scrollsSideways = (target: EventTarget | null) => {
  const pane = target instanceof Element ? target.closest('.pdf, pre') : null;
  return pane !== null && pane.scrollWidth > pane.clientWidth;
};

function FileLink({ entry, icon, label, path }: { entry: FolderEntry | null; icon: IconName; label: string; path: readonly string[] }) {
  if (!entry) return <span class="icon-button" aria-hidden="true" />;
  return (
    <a class="icon-button" href={previewAddress(path)} title={label} onClick={onFileLink(path)}>
      <Icon name={icon} />
      <span class="for-reader">{`${label}: ${entry.name}`}</span>
    </a>
  );
}

/** Returns the loaded entry of a file with its index in the folder, and the loaded files before and after it. */
function findWithNeighbours(folder: Folder, name: string) {
  const files = folder.loadedEntries().filter(([, entry]) => !entry.folder);
  const position = files.findIndex(([, entry]) => entry.name === name);
  const entryAt = (index: number) => (position < 0 ? null : (files[index]?.[1] ?? null));
  return {
    folderIndex: files[position]?.[0],
    entry: entryAt(position),
    before: entryAt(position - 1),
    after: entryAt(position + 1),
  };
}

/** Shows a file in a dialog that fills the page. Escape and the back button close it. */
export function Preview({ name, folderPath, pathOf, folder, can, closeAddress }: Properties) {
  const { translate } = useTranslation();
  const dialog = useRef<HTMLDialogElement>(null);
  const body = useRef<HTMLDivElement>(null);
  const { folderIndex, entry, before, after } = findWithNeighbours(folder, name);
  const filePath = (target: FolderEntry | null) => (target ? [...folderPath, target.name] : []);
  useEffect(() => {
    const previousFocus = document.activeElement;
    dialog.current?.showModal();
    body.current?.focus();
    return () => requestAnimationFrame(() => previousFocus instanceof HTMLElement && previousFocus.focus());
  }, []);
  useEffect(() => {
    if (folderIndex !== undefined && folder.total !== null) folder.load(folderIndex, Math.min(folderIndex + 2, folder.total));
  });
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.target instanceof HTMLMediaElement || event.altKey || event.ctrlKey || event.metaKey) return;
      if (scrollsSideways(event.target)) return;
      const [left, right] = document.documentElement.dir === 'rtl' ? [after, before] : [before, after];
      const next = { ArrowLeft: left, ArrowRight: right }[event.key];
      if (next) showFile(filePath(next));
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, [before?.name, after?.name]);
  const close = () => {
    if (closeAddress === null) window.history.back();
    else window.location.replace(closeAddress);
  };
  const path = pathOf(name);
  const kind = entry ? fileKind(entry.mediaType) : 'unknown';
  const canFile = entry ? filePermissions(can, entry) : can;
  return (
    <dialog
      ref={dialog}
      class="preview"
      aria-label={visibleName(name)}
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
    >
      <header class="preview-head">
        <FileName name={name} />
        <FileLink entry={before} icon="left" label={translate('previous')} path={filePath(before)} />
        <FileLink entry={after} icon="right" label={translate('next')} path={filePath(after)} />
        {canFile.download && (
          <a class="icon-button" href={addressOf('file', path)} download={name} title={translate('download')}>
            <Icon name="download" />
            <span class="for-reader">{translate('downloadNamed', { name })}</span>
          </a>
        )}
        <button type="button" class="icon-button" onClick={close} title={translate('close')}>
          <Icon name="close" />
          <span class="for-reader">{translate('close')}</span>
        </button>
      </header>
      <div ref={body} class="preview-body" tabIndex={-1}>
        {folder.failure && folder.total === null && (
          <FailureCard failure={folder.failure} retry={folder.reload} onSignOut={null} embedded />
        )}
        {folder.total !== null && <Pane key={`${name} ${kind}`} path={path} name={name} kind={kind} entry={entry} can={canFile} />}
      </div>
    </dialog>
  );
}
