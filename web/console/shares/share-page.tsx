import { Alert, Button, Menu, Skeleton } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ChevronDown } from 'lucide-react';
import { useState } from 'react';
import { asProblem, post } from '#console/api/call.ts';
import { AddressDialog } from '#console/components/address-dialog.tsx';
import type { BulkAction } from '#console/components/bulk.ts';
import { BulkDialog } from '#console/components/bulk-dialog.tsx';
import { PageHead } from '#console/components/page-head.tsx';
import { RecordEditor, type RecordKind } from '#console/components/record-editor.tsx';
import { useRecordId } from '#console/components/record-id.ts';
import { showMessage } from '#console/components/show-message.tsx';
import { StateLabel } from '#console/components/state-label.tsx';
import { useHasRole } from '#console/shell/caller.ts';
import { LoadError } from '#console/shell/load-error.tsx';
import type { Share } from '#core/records/share.ts';
import { ActivityPanel } from './activity-panel.tsx';
import { ExplainPanel } from './explain-panel.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { LinkPanel } from './link-panel.tsx';
import { MailsPanel } from './mails-panel.tsx';
import { activate, deactivate, deleteShares, replaceLink } from './share-actions.ts';
import { ShareForm, ShareSentence } from './share-form.tsx';
import { shareQuery } from './share-queries.ts';
import { stateLabels, stateOf } from './share-state.ts';
import { changedShareFields, type ShareValues, shareBodyOf, shareFieldNames, shareValuesOf } from './share-values.ts';

export function SharePage() {
  const id = useRecordId();
  const { created } = useSearch({ strict: false });
  const isEditor = useHasRole('editor');
  const { data: share, error, refetch } = useQuery(shareQuery(id));
  if (error && !share) return <LoadError error={error} reset={() => void refetch()} />;
  if (!share) return <Skeleton height={320} />;
  const { label, tone } = stateLabels[stateOf(share, Date.now())];
  return (
    <>
      <PageHead title={share.title} lead={<StateLabel tone={tone}>{label}</StateLabel>}>
        {isEditor && <Actions share={share} />}
      </PageHead>
      {created && (
        <Alert color="accent" mb="md" title="The link is ready" role="status">
          Copy the link, show its QR code, or send it by e-mail. The settings below apply from now on.
        </Alert>
      )}
      <LinkPanel share={share} />
      {isEditor ? <Editor key={share.id} share={share} /> : <ShareSentence values={shareValuesOf(share)} />}
      <ExplainPanel key={`explain ${share.id} ${share.etag}`} share={share} />
      {isEditor && <MailsPanel share={share} />}
      <ActivityPanel share={share} />
    </>
  );
}

const duplicate = (share: Share) => post('share/duplicate', { id: share.id, title: `${share.title} (copy)` });

function Actions({ share }: { share: Share }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [action, setAction] = useState<BulkAction<Share> | null>(null);
  const [isInviting, setInviting] = useState(false);
  const [isAddressDialogOpen, setAddressDialogOpen] = useState(false);
  async function copy() {
    try {
      const { id } = await duplicate(share);
      await client.invalidateQueries({ queryKey: ['share', 'list'] });
      await navigate({ to: '/shares/$id', params: { id: String(id) } });
      showMessage({ text: 'Share duplicated. This is the copy. It has a new link.' });
    } catch (cause) {
      showMessage({ text: asProblem(cause).message, failed: true });
    }
  }
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" rightSection={<ChevronDown size={16} aria-hidden />}>
            Actions
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => setInviting(true)}>Invite by e-mail</Menu.Item>
          <Menu.Item onClick={() => setAction(share.active ? deactivate : activate)}>{share.active ? 'Deactivate' : 'Activate'}</Menu.Item>
          <Menu.Item onClick={() => setAction(replaceLink)}>Replace link</Menu.Item>
          <Menu.Item onClick={() => setAddressDialogOpen(true)}>Choose link address</Menu.Item>
          <Menu.Item onClick={() => void copy()}>Duplicate</Menu.Item>
          <Menu.Divider />
          <Menu.Item color="red" onClick={() => setAction(deleteShares)}>
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isInviting && <InviteDialog share={share} close={() => setInviting(false)} />}
      {isAddressDialogOpen && (
        <AddressDialog
          title="Link address"
          url={share.viewUrl}
          note="The old address stops working at once. Strangers can guess a short address: a link without sign-in needs at least 8 characters."
          save={async (viewId) => {
            await post('share/updateSharableLink', { id: share.id, viewId }, { ifMatch: share.etag });
            await client.invalidateQueries({ queryKey: ['share'] });
            showMessage({ text: 'The link now has this address.' });
          }}
          close={() => setAddressDialogOpen(false)}
        />
      )}
      {action && (
        <BulkDialog
          kind="share"
          noun={['share', 'shares']}
          action={action}
          records={[share]}
          nameOf={({ title }) => title}
          close={(changed) => {
            setAction(null);
            if (changed && action === deleteShares) void navigate({ to: '/shares', ignoreBlocker: true });
          }}
        />
      )}
    </>
  );
}

const shares: RecordKind<Share, ShareValues> = {
  kind: 'share',
  get: (id) => post('share/get', { id }),
  update: ({ id }, values, options) => post('share/update', { id, ...shareBodyOf(values) }, options),
  valuesOf: shareValuesOf,
  changedFields: changedShareFields,
  fieldNames: shareFieldNames,
  undoable: (_before, after) => !after.ownPassword,
};

const Editor = ({ share }: { share: Share }) => (
  <RecordEditor recordKind={shares} record={share}>
    {(form) => (
      <>
        <ShareSentence values={form.values} />
        <ShareForm form={form} fixed />
      </>
    )}
  </RecordEditor>
);
