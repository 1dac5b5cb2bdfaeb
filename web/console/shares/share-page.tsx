import { Alert, Button, Menu, Skeleton } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { ChevronDown } from 'lucide-react';
import { useState } from 'react';
import { asProblem, post } from '#console/api/call.ts';
import { AddressDialog } from '#console/records/address-dialog.tsx';
import type { BulkAction } from '#console/records/bulk.ts';
import { BulkDialog } from '#console/records/bulk-dialog.tsx';
import { PageHead } from '#console/records/page-head.tsx';
import { RecordEditor, type RecordKind } from '#console/records/record-editor.tsx';
import { useRecordId } from '#console/records/record-id.ts';
import { StateWord } from '#console/records/state-word.tsx';
import { showMessage } from '#console/records/told.tsx';
import { LoadFailed } from '#console/shell/load-failed.tsx';
import { useMay } from '#console/shell/who.ts';
import type { Share } from '#core/records/share.ts';
import { ActivityPanel } from './activity-panel.tsx';
import { ExplainPanel } from './explain-panel.tsx';
import { LinkPanel } from './link-panel.tsx';
import { activate, deactivate, deleteShares, newLink } from './share-actions.ts';
import { ShareForm, ShareSentence } from './share-form.tsx';
import { shareQuery } from './share-queries.ts';
import { stateOf, stateWords } from './share-state.ts';
import { bodyOf, differing, fieldNames, type ShareValues, valuesOf } from './share-values.ts';

/** One share: its link, what it allows, who could enter, and what happened. */
export function SharePage() {
  const id = useRecordId();
  const { fresh } = useSearch({ strict: false });
  const mayEdit = useMay('editor');
  const { data: share, error, refetch } = useQuery(shareQuery(id));
  if (error && !share) return <LoadFailed error={error} reset={() => void refetch()} />;
  if (!share) return <Skeleton height={320} />;
  const { word, tone } = stateWords[stateOf(share, Date.now())];
  return (
    <>
      <PageHead title={share.title} lead={<StateWord tone={tone}>{word}</StateWord>}>
        {mayEdit && <Actions share={share} />}
      </PageHead>
      {fresh && (
        <Alert color="accent" mb="md" title="The link is ready" role="status">
          Copy it, let it be scanned, or mail it. It holds to what stands below from this moment on.
        </Alert>
      )}
      <LinkPanel share={share} />
      {mayEdit ? <Editor key={share.id} share={share} /> : <ShareSentence values={valuesOf(share)} />}
      <ExplainPanel key={`explain ${share.id} ${share.etag}`} share={share} />
      <ActivityPanel share={share} />
    </>
  );
}

const duplicate = (share: Share) => post<{ id: number }>('share/duplicate', { id: share.id, title: `${share.title} (copy)` });

function Actions({ share }: { share: Share }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [asked, ask] = useState<BulkAction<Share> | null>(null);
  const [naming, setNaming] = useState(false);
  async function copy() {
    try {
      const { id } = await duplicate(share);
      await client.invalidateQueries({ queryKey: ['share', 'list'] });
      await navigate({ to: '/shares/$id', params: { id: String(id) } });
      showMessage({ words: 'This is the copy; its link is new.' });
    } catch (cause) {
      showMessage({ words: asProblem(cause).message, failed: true });
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
          <Menu.Item onClick={() => ask(share.active ? deactivate : activate)}>{share.active ? 'Deactivate' : 'Activate'}</Menu.Item>
          <Menu.Item onClick={() => ask(newLink)}>New link</Menu.Item>
          <Menu.Item onClick={() => setNaming(true)}>Choose the address</Menu.Item>
          <Menu.Item onClick={() => void copy()}>Duplicate</Menu.Item>
          <Menu.Divider />
          <Menu.Item color="red" onClick={() => ask(deleteShares)}>
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {naming && (
        <AddressDialog
          title="Address of the link"
          url={share.viewUrl}
          save={async (viewId) => {
            await post('share/updateSharableLink', { id: share.id, viewId }, { ifMatch: share.etag });
            await client.invalidateQueries({ queryKey: ['share'] });
            showMessage({ words: 'The link has this address from now on.' });
          }}
          close={() => setNaming(false)}
        />
      )}
      {asked && (
        <BulkDialog
          kind="share"
          of={['share', 'shares']}
          action={asked}
          records={[share]}
          nameOf={({ title }) => title}
          close={(changed) => {
            ask(null);
            if (changed && asked === deleteShares) void navigate({ to: '/shares', ignoreBlocker: true });
          }}
        />
      )}
    </>
  );
}

const shares: RecordKind<Share, ShareValues> = {
  kind: 'share',
  get: (id) => post<Share>('share/get', { id }),
  update: ({ id }, values, how) => post('share/update', { id, ...bodyOf(values) }, how),
  valuesOf,
  differing,
  names: fieldNames,
  undoable: (_before, after) => !after.ownPassword,
};

const Editor = ({ share }: { share: Share }) => (
  <RecordEditor of={shares} record={share}>
    {(form) => (
      <>
        <ShareSentence values={form.values} />
        <ShareForm form={form} fixed />
      </>
    )}
  </RecordEditor>
);
