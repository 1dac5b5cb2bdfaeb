import { Alert, Button, Group, Skeleton, Text } from '@mantine/core';
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { post, remove } from '#console/api/call.ts';
import { ConfirmDialog } from '#console/components/confirm-dialog.tsx';
import { EmptyState } from '#console/components/empty-state.tsx';
import { PageHead } from '#console/components/page-head.tsx';
import { Section } from '#console/components/section.tsx';
import { TestPanel } from '#console/components/test-panel.tsx';
import { EndTime } from '#console/components/times.tsx';
import { useHasRole } from '#console/shell/caller.ts';
import { LoadError } from '#console/shell/load-error.tsx';
import type { StoredSignatureRecord } from '#core/records/signature.ts';
import { CertificateDialog } from './certificate-dialog.tsx';
import { SettingsTabs } from './settings-tabs.tsx';
import { expiryWarning } from './signature-expiry.ts';

const signatureQuery = queryOptions({ queryKey: ['signature'], queryFn: () => post('signature/get', {}) });

const stepLabels: Readonly<Record<string, string>> = {
  certificate: 'Certificate',
  sign: 'Sign a page',
  timeStamp: 'Get a time stamp',
};

/** The certificate with which PDF files are signed. */
export function SignaturesPage() {
  const isAdmin = useHasRole('admin');
  const { data: signature, error, refetch } = useQuery({ ...signatureQuery, enabled: isAdmin });
  return (
    <>
      <PageHead
        title="Signatures"
        lead={
          isAdmin
            ? 'PDF files of shares with digital signatures are signed with this certificate when visitors download them.'
            : 'You need the role admin to view or change the certificate for signatures.'
        }
      />
      <SettingsTabs at="/settings/signatures" />
      {!isAdmin ? null : error && !signature ? (
        <LoadError error={error} reset={() => void refetch()} />
      ) : signature ? (
        <Certificate signature={signature} />
      ) : (
        <Skeleton height={240} />
      )}
    </>
  );
}

function Certificate({ signature }: { signature: StoredSignatureRecord }) {
  const client = useQueryClient();
  const [dialog, setDialog] = useState<'change' | 'delete' | null>(null);
  const isStored = signature.certificate !== null;
  const close = () => setDialog(null);
  const reload = () => client.invalidateQueries({ queryKey: signatureQuery.queryKey });
  return (
    <>
      {isStored ? (
        <Stored signature={signature} change={() => setDialog('change')} askToDelete={() => setDialog('delete')} />
      ) : (
        <EmptyState title="No certificate" text="Until one is stored, PDF files that must be signed cannot be downloaded.">
          <Button onClick={() => setDialog('change')}>Upload certificate</Button>
        </EmptyState>
      )}
      {dialog === 'change' && (
        <CertificateDialog
          timestampUrl={signature.timestampUrl}
          isStored={isStored}
          tokenKeyIds={signature.tokenKeyIds}
          onSaved={reload}
          close={close}
        />
      )}
      {dialog === 'delete' && (
        <ConfirmDialog
          title="Delete certificate"
          text="PDF files that must be signed can then no longer be downloaded. Files that were signed before stay valid."
          confirmLabel="Delete"
          destructive
          run={async () => {
            await remove('signature/delete', {});
            await reload();
          }}
          close={close}
        />
      )}
    </>
  );
}

interface StoredProps {
  readonly signature: StoredSignatureRecord;
  readonly change: () => void;
  readonly askToDelete: () => void;
}

function Stored({ signature: { subject, issuer, serialNumber, validTo, tokenKeyId, timestampUrl }, change, askToDelete }: StoredProps) {
  const warning = expiryWarning(validTo, Date.now());
  return (
    <>
      {warning && (
        <Alert color="red" mb="md" title={warning}>
          Upload a new certificate. PDF files that must be signed cannot be downloaded after the present one has expired.
        </Alert>
      )}
      <Section title="Certificate">
        <dl className="facts">
          <Fact name="Subject">{subject}</Fact>
          <Fact name="Issuer">{issuer}</Fact>
          <Fact name="Serial number">{serialNumber}</Fact>
          <Fact name="Expires">
            <EndTime at={validTo} />
          </Fact>
          <Fact name="Private key">{tokenKeyId === null ? 'stored in Postern' : `key ${tokenKeyId} of the PKCS #11 token`}</Fact>
          <Fact name="Time-stamp authority">{timestampUrl ?? 'none'}</Fact>
        </dl>
        <Group>
          <Button variant="default" onClick={change}>
            Change
          </Button>
          <Button variant="default" onClick={askToDelete}>
            Delete
          </Button>
        </Group>
      </Section>
      <TestPanel id="signature-test" title="Signature test" run={() => post('signature/test', {})} labels={stepLabels} />
    </>
  );
}

const Fact = ({ name, children }: { name: string; children: React.ReactNode }) => (
  <div>
    <Text component="dt" size="sm" c="dimmed">
      {name}
    </Text>
    <Text component="dd">{children}</Text>
  </div>
);
