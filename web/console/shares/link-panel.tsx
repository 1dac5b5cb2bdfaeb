import { ActionIcon, Anchor, Group, Paper, Stack, Text } from '@mantine/core';
import { ExternalLink, Mail, QrCode as QrCodeIcon } from 'lucide-react';
import { useState } from 'react';
import { CopyField } from '#console/components/copy-field.tsx';
import { Dialog } from '#console/components/dialog.tsx';
import { untilText } from '#console/components/format.ts';
import { QrCode } from '#console/components/qr-code.tsx';
import type { Share } from '#core/records/share.ts';

/** Returns a mailto URL with subject and text. The operator's own mail program sends the e-mail. */
function mailtoUrl({ title, viewUrl, validityEndDate }: Share): string {
  const until = validityEndDate ? `\n\nThe link is valid ${untilText(validityEndDate)}.` : '';
  return `mailto:?subject=${encodeURIComponent(title)}&body=${encodeURIComponent(`Here is a link to "${title}":\n${viewUrl}${until}`)}`;
}

/** The link of a share: copy it, show its QR code, send it by e-mail, or open it. */
export function LinkPanel({ share }: { share: Share }) {
  const [isCodeOpen, setCodeOpen] = useState(false);
  return (
    <Paper withBorder className="panel" component="section" aria-label="Share link">
      <Group align="end" gap="xs">
        <CopyField label="Link" value={share.viewUrl} copyLabel="Copy link" primary />
        <ActionIcon size={36} variant="default" onClick={() => setCodeOpen(true)} aria-label="Show QR code">
          <QrCodeIcon size={18} aria-hidden />
        </ActionIcon>
      </Group>
      <Group gap="lg" mt="sm">
        <Anchor href={mailtoUrl(share)} className="with-icon">
          <Mail size={16} aria-hidden /> Send by e-mail
        </Anchor>
        <Anchor href={share.viewUrl} target="_blank" rel="noreferrer" className="with-icon">
          <ExternalLink size={16} aria-hidden /> Open as visitor
        </Anchor>
      </Group>
      {isCodeOpen && (
        <Dialog onClose={() => setCodeOpen(false)} title={share.title}>
          <Stack align="center">
            <QrCode text={share.viewUrl} label={`QR code of ${share.viewUrl}`} />
            <Text size="sm" c="dimmed" className="address">
              {share.viewUrl}
            </Text>
          </Stack>
        </Dialog>
      )}
    </Paper>
  );
}
