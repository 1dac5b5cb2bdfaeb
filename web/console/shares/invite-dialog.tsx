import { TagsInput, Textarea } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { post } from '#console/api/call.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { formatCount } from '#console/components/format.ts';
import { showMessage } from '#console/components/show-message.tsx';
import { SmallFormFields, useSmallForm } from '#console/components/small-form.tsx';
import { formatList } from '#core/list-text.ts';
import type { Share } from '#core/records/share.ts';

/** Mails the link of a share. */
export function InviteDialog({ share, close }: { share: Share; close: () => void }) {
  const client = useQueryClient();
  const initial: { emails: string[]; message: string } = { emails: [], message: '' };
  const smallForm = useSmallForm(initial, async ({ emails, message }) => {
    const { recipientCount } = await post('share/invite', { id: share.id, emails: formatList(emails), message });
    await client.invalidateQueries({ queryKey: ['mail'] });
    showMessage({ text: `${formatCount(recipientCount, 'invitation', 'invitations')} will be sent.` });
    close();
  });
  const { form } = smallForm;
  return (
    <Dialog onClose={close} title="Invite by e-mail">
      <SmallFormFields of={smallForm} saveLabel="Send invitations" cancel={close}>
        <TagsInput
          label="Recipients"
          description={share.allowAllUsers ? undefined : 'Leave empty to invite the users listed in this share.'}
          placeholder="ann@example.com"
          data-autofocus
          {...form.getInputProps('emails')}
        />
        <Textarea label="Message" description="Shown in the mail. Optional." autosize minRows={3} {...form.getInputProps('message')} />
      </SmallFormFields>
    </Dialog>
  );
}
