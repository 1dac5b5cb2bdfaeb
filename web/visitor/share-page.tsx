import { useEffect, useState } from 'preact/hooks';
import type { Visit } from '#core/records/visit.ts';
import { Icon } from '#kit/icons.tsx';
import { usePlace } from './folder-address.ts';
import { addressOf } from './link-api.ts';
import { FolderView } from './listing/folder-view.tsx';
import { lists, offered } from './offered.ts';
import { PageFoot } from './page-foot.tsx';
import { PageHead } from './page-head.tsx';
import { AskDialog } from './prompt-dialog.tsx';
import { useRefused } from './refused.ts';
import { permissionSentence } from './translations/sentences.ts';
import { useSpeech } from './translations/use-translation.ts';
import { DropBox } from './upload/drop-box.tsx';
import { UploadSheet } from './upload/upload-sheet.tsx';
import { isUnderWay } from './upload/uploads.ts';
import { useUploads } from './upload/use-uploads.ts';
import { wayBack } from './way-back.ts';

interface Properties {
  readonly visit: Visit;
  readonly share: NonNullable<Visit['share']>;
  /** Raised with every sign-in: what waited for it goes on. */
  readonly sessions: number;
  readonly leave: () => void;
}

/** A share: what it is, what may be done, and the files. */
export function SharePage({ visit, share, sessions, leave }: Properties) {
  const place = usePlace();
  const speech = useSpeech();
  const { say } = speech;
  const [leaving, setLeaving] = useState(false);
  const [back] = useState(wayBack);
  const { queue, uploads } = useUploads(share.can.createFolder, useRefused());
  useEffect(() => {
    document.title = share.title;
  }, [share.title]);
  useEffect(() => {
    if (sessions > 0) uploads.resume();
  }, [sessions]);
  const can = offered(share);
  const listed = lists(share);
  return (
    <>
      <main class="column" tabIndex={-1}>
        <PageHead
          title={share.title}
          visitor={visit.visitor}
          sentence={permissionSentence(share, speech)}
          description={share.description}
          message={share.startupMessage}
          back={back}
          ownPassword={visit.signIn.typeString === 'USERS'}
          leave={() => (queue.all.some(isUnderWay) ? setLeaving(true) : leave())}
        />
        {share.marked && listed && <p class="notice">{say('protectedFiles')}</p>}
        {listed && <FolderView share={share} can={can} place={place} version={queue.arrived + sessions} uploads={uploads} />}
        {!listed && can.upload && <DropBox queue={queue} uploads={uploads} />}
        {!listed && can.downloadFolder && (
          <a class="button primary lone" href={addressOf('zip', [])} download>
            <Icon name="download" /> {say('allAsZip')}
          </a>
        )}
      </main>
      <UploadSheet queue={queue} uploads={uploads} receipt={!listed} canReplace={share.can.delete && listed} />
      <PageFoot />
      {leaving && (
        <AskDialog
          question={{
            title: say('signOut'),
            text: say('stillUploading'),
            value: null,
            action: say('signOut'),
            loss: true,
            run: async () => leave(),
          }}
          close={() => setLeaving(false)}
        />
      )}
    </>
  );
}
