import { useEffect, useState } from 'preact/hooks';
import type { Visit } from '#core/records/visit.ts';
import { visibleName } from '#core/translations/visible-name.ts';
import { Icon } from '#kit/icons.tsx';
import { usePageAddress } from './folder-address.ts';
import { addressOf } from './link-api.ts';
import { FolderView } from './listing/folder-view.tsx';
import { offeredPermissions, showsList } from './offered-permissions.ts';
import { PageFoot } from './page-foot.tsx';
import { PageHead } from './page-head.tsx';
import { recallPortal } from './portal-link.ts';
import { PromptDialog } from './prompt-dialog.tsx';
import { useReportFailure } from './report-failure.ts';
import { permissionSentence } from './translations/sentences.ts';
import { useTranslation } from './translations/use-translation.ts';
import { DropBox } from './upload/drop-box.tsx';
import { UnfinishedList } from './upload/unfinished-list.tsx';
import { isActive } from './upload/upload-item.ts';
import { UploadSheet } from './upload/upload-sheet.tsx';
import { useUploads } from './upload/use-uploads.ts';

interface Properties {
  readonly visit: Visit;
  readonly share: NonNullable<Visit['share']>;
  /** Increases with every sign-in. Paused uploads then continue. */
  readonly signInCount: number;
  readonly onSignOut: () => void;
}

export function SharePage({ visit, share, signInCount, onSignOut }: Properties) {
  const address = usePageAddress();
  const translation = useTranslation();
  const { translate } = translation;
  const [confirmsSignOut, setConfirmsSignOut] = useState(false);
  const [portal] = useState(recallPortal);
  const { queue, uploads } = useUploads(share.can.createFolder, useReportFailure());
  useEffect(() => {
    document.title = visibleName(share.title);
  }, [share.title]);
  useEffect(() => {
    if (signInCount > 0) uploads.resume();
  }, [signInCount]);
  const can = offeredPermissions(share);
  const hasList = showsList(share);
  return (
    <>
      <main class="column" tabIndex={-1}>
        <PageHead
          title={share.title}
          visitor={visit.visitor}
          permissions={permissionSentence(share, translation)}
          description={share.description}
          message={share.startupMessage}
          back={portal}
          canChangePassword={visit.signIn.canChangePassword}
          onSignOut={() => (queue.items.some(isActive) ? setConfirmsSignOut(true) : onSignOut())}
        />
        {share.marked && hasList && <p class="notice">{translate('protectedFiles')}</p>}
        {can.upload && share.folder && <UnfinishedList queue={queue} uploads={uploads} signInCount={signInCount} />}
        {hasList && <FolderView share={share} can={can} address={address} version={queue.completed + signInCount} uploads={uploads} />}
        {!hasList && can.upload && <DropBox queue={queue} uploads={uploads} hidesFiles={!can.downloadFolder} quota={share.quota} />}
        {!hasList && can.downloadFolder && (
          <a class="button primary lone" href={addressOf('zip', [])} download>
            <Icon name="download" /> {translate('allAsZip')}
          </a>
        )}
      </main>
      <UploadSheet queue={queue} uploads={uploads} hasReceipt={!hasList} canReplace={share.can.delete && hasList} />
      <PageFoot />
      {confirmsSignOut && (
        <PromptDialog
          prompt={{
            title: translate('signOut'),
            text: translate('stillUploading'),
            value: null,
            action: translate('signOut'),
            isDestructive: true,
            run: async () => onSignOut(),
          }}
          close={() => setConfirmsSignOut(false)}
        />
      )}
    </>
  );
}
