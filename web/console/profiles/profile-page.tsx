import { Anchor, Button, Group, Menu, Paper, Skeleton } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { ChevronDown } from 'lucide-react';
import { useState } from 'react';
import { asProblem, post } from '#console/api/call.ts';
import { AddressDialog } from '#console/components/address-dialog.tsx';
import { withConfigurationErrors } from '#console/components/configuration-errors.ts';
import { ConfirmDialog } from '#console/components/confirm-dialog.tsx';
import { DeleteDialog } from '#console/components/delete-dialog.tsx';
import { formatCount } from '#console/components/format.ts';
import { PageHead } from '#console/components/page-head.tsx';
import { RecordEditor, type RecordKind } from '#console/components/record-editor.tsx';
import { useRecordId } from '#console/components/record-id.ts';
import { showMessage } from '#console/components/show-message.tsx';
import { useCaller, useHasRole } from '#console/shell/caller.ts';
import { LoadError } from '#console/shell/load-error.tsx';
import { hasAccessUsers, type LoginProfile, profileTypes, requiresSignIn } from '#core/records/login-profile.ts';
import { changedProfileFields } from './changed-profile-fields.ts';
import { signInKindLabels } from './kinds.ts';
import { PortalAddress, RedirectAddress, ServiceProviderAddresses } from './profile-addresses.tsx';
import { excludesAddress, ProfileForm } from './profile-form.tsx';
import { DirectoryTest, ProviderTest } from './profile-tests.tsx';
import { type ProfileValues, profileBodyOf, profileValuesOf } from './profile-values.ts';
import { profileChangeConfirmation, profileChangeWarning } from './profile-warnings.ts';
import { deleteProfiles } from './profiles-page.tsx';

const get = (id: number) => post('loginprofile/get', { id });

const profiles: RecordKind<LoginProfile, ProfileValues> = {
  kind: 'profile',
  get,
  update: ({ id }, values, options) =>
    withConfigurationErrors(values, post('loginprofile/update', { id, ...profileBodyOf(values) }, options)),
  valuesOf: profileValuesOf,
  changedFields: changedProfileFields,
  // A replaced secret cannot be restored: nobody can read the old one.
  undoable: (before, after) =>
    before.typeId === after.typeId && ['password', 'clientSecret', 'bindPassword'].every((name) => before[name] === after[name]),
};

const hasProvider = (typeId: number) => typeId === profileTypes.OIDC || typeId === profileTypes.SAML;

export function ProfilePage() {
  const id = useRecordId();
  const { address } = useCaller();
  const isAdmin = useHasRole('admin');
  const { data: profile, error, refetch } = useQuery({ queryKey: ['profile', 'one', id], queryFn: () => get(id) });
  if (error && !profile) return <LoadError error={error} reset={() => void refetch()} />;
  if (!profile) return <Skeleton height={320} />;
  return (
    <>
      <PageHead title={profile.title} lead={signInKindLabels[profile.typeString]?.name}>
        {isAdmin && <Actions profile={profile} />}
      </PageHead>
      <Paper withBorder className="panel" component="section" aria-label="Shares and users">
        <Group gap="lg">
          <Anchor component={Link} to={`/shares?profile=${id}`}>
            {formatCount(profile.shareCount, 'share', 'shares')}
          </Anchor>
          {hasAccessUsers(profile.typeId) && (
            <Anchor component={Link} to={`/users?profile=${id}`}>
              {formatCount(profile.userCount, 'access user', 'access users')}
            </Anchor>
          )}
        </Group>
        {requiresSignIn(profile.typeId) && <PortalAddress profile={profile} />}
        {profile.typeId === profileTypes.OIDC && <RedirectAddress profile={profile} />}
        {profile.typeId === profileTypes.SAML && <ServiceProviderAddresses profile={profile} />}
      </Paper>
      {isAdmin && hasProvider(profile.typeId) && <ProviderTest key={profile.etag} id={profile.id} />}
      {isAdmin && profile.typeId === profileTypes.LDAP && <DirectoryTest key={profile.etag} id={profile.id} />}
      <RecordEditor
        key={profile.id}
        recordKind={profiles}
        record={profile}
        readOnly={!isAdmin}
        confirmation={(before, after) =>
          profileChangeConfirmation(before, after, profile.shareCount, excludesAddress(after.ipRange, address))
        }
        warning={(before, after) => profileChangeWarning(before, after, excludesAddress(after.ipRange, address))}
      >
        {(form) => <ProfileForm form={form} />}
      </RecordEditor>
    </>
  );
}

function Actions({ profile }: { profile: LoginProfile }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [openDialog, setOpenDialog] = useState<ProfileDialog | null>(null);
  const refresh = () => client.invalidateQueries({ queryKey: ['profile'] });
  async function run(text: string, change: () => Promise<unknown>) {
    try {
      await change();
      await refresh();
      showMessage({ text });
    } catch (cause) {
      showMessage({ text: asProblem(cause).message, failed: true });
    }
  }
  const copy = async () => {
    const { id } = await post('loginprofile/duplicate', { id: profile.id, title: `${profile.title} (copy)` });
    await navigate({ to: '/profiles/$id', params: { id: String(id) } });
  };
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button variant="default" rightSection={<ChevronDown size={16} aria-hidden />}>
            Actions
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            onClick={() =>
              void run('This is now the default login profile. The form of a new share starts with it.', () =>
                post('loginprofile/makeDefault', { id: profile.id }),
              )
            }
          >
            Set as default
          </Menu.Item>
          <Menu.Item onClick={() => void run('Login profile duplicated. This is the copy. Users and shares stay with the original.', copy)}>
            Duplicate
          </Menu.Item>
          {requiresSignIn(profile.typeId) && <Menu.Item onClick={() => setOpenDialog('address')}>Replace portal address</Menu.Item>}
          {requiresSignIn(profile.typeId) && <Menu.Item onClick={() => setOpenDialog('chooseAddress')}>Choose portal address</Menu.Item>}
          <Menu.Divider />
          <Menu.Item color="red" onClick={() => setOpenDialog('delete')}>
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {openDialog && <ActionDialog dialog={openDialog} profile={profile} refresh={refresh} close={() => setOpenDialog(null)} />}
    </>
  );
}

type ProfileDialog = 'delete' | 'address' | 'chooseAddress';

interface ActionDialogProps {
  readonly dialog: ProfileDialog;
  readonly profile: LoginProfile;
  readonly refresh: () => Promise<void>;
  readonly close: () => void;
}

/** The dialog of an action that needs a confirmation or an input before it runs. */
function ActionDialog({ dialog, profile, refresh, close }: ActionDialogProps) {
  if (dialog === 'address') {
    return (
      <ConfirmDialog
        title="Replace portal address"
        text="The current address stops working at once, and all signed-in visitors are signed out."
        confirmLabel="Replace address"
        run={async () => {
          await post('loginprofile/updateViewId', { id: profile.id });
          await refresh();
        }}
        close={close}
      />
    );
  }
  if (dialog === 'chooseAddress') {
    return (
      <AddressDialog
        title="Portal address"
        url={profile.viewUrl}
        note="The current address stops working at once, and all signed-in visitors are signed out. Strangers can guess a short address."
        save={async (viewId) => {
          await post('loginprofile/updateViewId', { id: profile.id, viewId }, { ifMatch: profile.etag });
          await refresh();
        }}
        close={close}
      />
    );
  }
  return (
    <DeleteDialog
      kind="profile"
      noun={['login profile', 'login profiles']}
      action={deleteProfiles}
      record={profile}
      nameOf={({ title }) => title}
      listPath="/profiles"
      close={close}
    />
  );
}
