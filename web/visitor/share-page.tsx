import { useEffect } from 'preact/hooks';
import type { Visit } from '#core/records/visit.ts';
import { usePlace } from './folder-address.ts';
import { FolderView } from './listing/folder-view.tsx';
import { PageFoot } from './page-foot.tsx';
import { PageHead } from './page-head.tsx';
import { DropBox } from './upload/drop-box.tsx';
import { UploadSheet } from './upload/upload-sheet.tsx';
import { useUploads } from './upload/use-uploads.ts';
import { permissionSentence } from './words/sentences.ts';
import { useSpeech } from './words/speech.ts';

interface Properties {
  readonly visit: Visit;
  readonly share: NonNullable<Visit['share']>;
  /** Raised with every sign-in: what waited for it goes on. */
  readonly sessions: number;
  /** Something was refused that was allowed before: the link is asked again. */
  readonly refused: () => void;
  readonly leave: () => void;
}

/** A share: what it is, what may be done, and the files. */
export function SharePage({ visit, share, sessions, refused, leave }: Properties) {
  const place = usePlace();
  const speech = useSpeech();
  const { queue, uploads } = useUploads(share.can.createFolder, refused);
  useEffect(() => {
    document.title = share.title;
  }, [share.title]);
  useEffect(() => {
    if (sessions > 0) uploads.resume();
  }, [sessions]);
  const lists = share.can.view || share.can.download;
  return (
    <>
      <main class="column">
        <PageHead
          title={share.title}
          visitor={visit.visitor}
          sentence={permissionSentence(share, speech)}
          description={share.description}
          message={share.startupMessage}
          leave={leave}
        />
        {lists && <FolderView share={share} place={place} version={queue.arrived + sessions} uploads={uploads} refused={refused} />}
        {!lists && share.can.upload && share.folder && <DropBox queue={queue} uploads={uploads} />}
      </main>
      <UploadSheet queue={queue} uploads={uploads} receipt={!lists} canReplace={share.can.delete} />
      <PageFoot />
    </>
  );
}
