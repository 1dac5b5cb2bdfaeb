import { Button, Group, Progress, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { asProblem, getPage, type Query } from '#console/api/call.ts';
import { Dialog } from '#console/components/dialog.tsx';
import { formatCount } from '#console/components/format.ts';
import type { AccessUser } from '#core/records/access-user.ts';
import { writeCsv } from './write-csv.ts';

const pageSize = 1000;

/** Loads all matching users. Requests the pages by cursor, so that no user is left out if another user is deleted meanwhile. */
async function loadAllUsers(query: Query, signal: AbortSignal, progress: (done: number, all: number) => void): Promise<AccessUser[]> {
  const users: AccessUser[] = [];
  for (let after: string | undefined; ; ) {
    const { page, next } = await getPage('accessuser/search', { ...query, after, pageSize }, signal);
    users.push(...page.list);
    progress(users.length, page.totalCount);
    if (next === null) return users;
    after = next;
  }
}

/** Loads all users that match the list's filters and offers them as a CSV file. */
export function ExportDialog({ query, close }: { query: Query; close: () => void }) {
  const [{ done, all }, setProgress] = useState({ done: 0, all: 1 });
  const [error, setError] = useState('');
  const [fileUrl, setFileUrl] = useState<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: uses the filters that were set when the dialog opened
  useEffect(() => {
    const controller = new AbortController();
    loadAllUsers(query, controller.signal, (count, total) => setProgress({ done: count, all: Math.max(1, total) })).then(
      (all) => setFileUrl(URL.createObjectURL(new Blob([`\ufeff${writeCsv(all)}`], { type: 'text/csv' }))),
      (cause) => controller.signal.aborted || setError(asProblem(cause).message),
    );
    return () => controller.abort();
  }, []);
  useEffect(() => () => (fileUrl === null ? undefined : URL.revokeObjectURL(fileUrl)), [fileUrl]);
  return (
    <Dialog onClose={close} title="Export users">
      {error ? (
        <Text c="var(--danger)" role="alert">
          {error}
        </Text>
      ) : (
        <>
          <Text role="status">
            {fileUrl === null ? 'Preparing the file…' : `${formatCount(done, 'user', 'users')}, without passwords.`}
          </Text>
          <Progress value={(100 * done) / all} my="sm" aria-label="Progress" />
        </>
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={close}>
          Close
        </Button>
        {fileUrl !== null && (
          <Button component="a" href={fileUrl} download="access-users.csv" onClick={() => setTimeout(close, 0)}>
            Save file
          </Button>
        )}
      </Group>
    </Dialog>
  );
}
