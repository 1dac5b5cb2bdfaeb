import { useEffect } from 'preact/hooks';
import type { Visit } from '#core/records/visit.ts';
import { DropBox } from './drop-box.tsx';
import { usePath } from './folder-address.ts';
import { FolderView } from './folder-view.tsx';
import { PageHead } from './page-head.tsx';
import { UploadSheet } from './upload-sheet.tsx';
import { useUploads } from './uploads.ts';
import { permissionSentence } from './words.ts';

interface Properties {
  readonly visit: Visit;
  readonly share: NonNullable<Visit['share']>;
  /** Something was refused that was allowed before: the link is asked again. */
  readonly ended: () => void;
  readonly leave: () => void;
}

/** A share: what it is, what may be done, and the files. */
export function SharePage({ visit, share, ended, leave }: Properties) {
  const path = usePath();
  const uploads = useUploads();
  useEffect(() => {
    document.title = share.title;
  }, [share.title]);
  const lists = share.can.view || share.can.download;
  return (
    <>
      <main class="column">
        <PageHead
          title={share.title}
          visitor={visit.visitor}
          sentence={permissionSentence(share)}
          description={share.description}
          message={share.startupMessage}
          leave={leave}
        />
        {lists && <FolderView share={share} path={path} uploads={uploads} ended={ended} />}
        {!lists && share.can.upload && share.folder && <DropBox uploads={uploads} />}
      </main>
      <UploadSheet uploads={uploads} receipt={!lists} />
      <footer class="foot quiet">Sent with Postern</footer>
    </>
  );
}
