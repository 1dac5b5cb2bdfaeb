import { ActionIcon, Anchor, Group, Paper, Stack, Text } from '@mantine/core';
import { ExternalLink, Mail, QrCode } from 'lucide-react';
import { useState } from 'react';
import { encode } from 'uqr';
import { CopyField } from '#console/components/copy-field.tsx';
import { Dialog } from '#console/components/dialog.tsx';
import { formats } from '#console/components/format.ts';
import type { Share } from '#core/records/share.ts';

/** A QR code, drawn as one path. Always black on white, as some scanners cannot read inverted codes. */
function LinkQrCode({ text }: { text: string }) {
  const { data, size } = encode(text, { border: 4 });
  const path = data.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return (
    <svg className="code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={`QR code of ${text}`}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  );
}

/** Returns a mailto URL with subject and text. The operator's own mail program sends the e-mail. */
function mailtoUrl({ title, viewUrl, validityEndDate }: Share): string {
  const until = validityEndDate ? `\n\nThe link is valid until ${formats.end(validityEndDate).moment}.` : '';
  return `mailto:?subject=${encodeURIComponent(title)}&body=${encodeURIComponent(`Here is a link to "${title}":\n${viewUrl}${until}`)}`;
}

/** The link of a share: copy it, show its QR code, send it by e-mail, or open it. */
export function LinkPanel({ share }: { share: Share }) {
  const [isCodeOpen, setCodeOpen] = useState(false);
  return (
    <Paper withBorder className="panel" component="section" aria-label="Share link">
      <Group align="end" wrap="nowrap" gap="xs">
        <CopyField label="Link" value={share.viewUrl} copyLabel="Copy link" primary />
        <ActionIcon size={36} variant="default" onClick={() => setCodeOpen(true)} aria-label="Show QR code">
          <QrCode size={18} aria-hidden />
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
            <LinkQrCode text={share.viewUrl} />
            <Text size="sm" c="dimmed" className="address">
              {share.viewUrl}
            </Text>
          </Stack>
        </Dialog>
      )}
    </Paper>
  );
}
