import { Button, Paper, Text, Textarea } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { asProblem, post } from '#console/api/call.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { EmailTags, emailError } from '#console/components/email-tags.tsx';
import { formatCount } from '#console/components/format.ts';
import { showMessage } from '#console/components/show-message.tsx';
import { SmallFormFields, useSmallForm } from '#console/components/small-form.tsx';
import { formatList } from '#core/list-text.ts';
import { hasAccessUsers } from '#core/records/login-profile.ts';
import type { Share } from '#core/records/share.ts';
import { profileQuery } from './share-queries.ts';

interface Invitation extends Record<string, unknown> {
  readonly emails: string[];
  readonly message: string;
}

const bodyOf = (share: Share, { emails, message }: Invitation) => ({ id: share.id, emails: formatList(emails), message });

function Preview({ share, invitation }: { share: Share; invitation: Invitation }) {
  const preview = useMutation({ mutationFn: () => post('share/previewInvitation', bodyOf(share, invitation)) });
  return (
    <div>
      <Button variant="default" size="xs" loading={preview.isPending} onClick={() => preview.mutate()}>
        {preview.data ? 'Update the preview' : 'Show a preview'}
      </Button>
      {preview.error && (
        <Text c="var(--danger)" size="sm" mt="xs" role="alert">
          {asProblem(preview.error).message}
        </Text>
      )}
      {preview.data && (
        <Paper withBorder p="sm" mt="xs" role="status" aria-label="Preview of the e-mail">
          <Text fw={550}>{preview.data.subject}</Text>
          <Text size="sm" className="mail-text">
            {preview.data.text}
          </Text>
        </Paper>
      )}
    </div>
  );
}

/** Sends the link of a share by e-mail. */
export function InviteDialog({ share, close }: { share: Share; close: () => void }) {
  const client = useQueryClient();
  const { data: profile } = useQuery(profileQuery(share.authenticationId));
  const initial: Invitation = { emails: [], message: '' };
  const smallForm = useSmallForm(initial, async (invitation) => {
    const { recipientCount } = await post('share/invite', bodyOf(share, invitation));
    await client.invalidateQueries({ queryKey: ['mail'] });
    showMessage({
      text: `${formatCount(recipientCount, 'invitation', 'invitations')} will be sent. The page of the share shows the newest e-mails.`,
    });
    close();
  });
  const { form } = smallForm;
  return (
    <Dialog onClose={close} title="Invite by e-mail">
      <SmallFormFields smallForm={smallForm} saveLabel="Send invitations" cancel={close}>
        <EmailTags
          label="Recipients"
          description={share.allowAllUsers ? undefined : 'Leave empty to invite the users listed in this share.'}
          profile={profile && hasAccessUsers(profile.typeId) ? profile.id : null}
          data-autofocus
          {...form.getInputProps('emails')}
          error={form.errors['emails'] ?? emailError(form.values.emails)}
        />
        <Textarea label="Message" description="Shown in the e-mail. Optional." autosize minRows={3} {...form.getInputProps('message')} />
        <Preview share={share} invitation={form.values} />
      </SmallFormFields>
    </Dialog>
  );
}
