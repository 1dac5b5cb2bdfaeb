import { Button, Group, Progress, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { get, asProblem, type Page, type Query } from '#console/api/call.ts';
import { Dialog } from '#console/records/dialog.tsx';
import { formatCount } from '#console/records/format.ts';
import type { AccessUser } from '#core/records/access-user.ts';
import { writeCsv } from './write-csv.ts';

const pageSize = 1000;

/** Every match, by the order of their numbers: who is added meanwhile comes at the end. */
async function loadAllUsers(query: Query, signal: AbortSignal, progress: (done: number, all: number) => void): Promise<AccessUser[]> {
  const users: AccessUser[] = [];
  for (;;) {
    const { list, totalCount } = await get<Page<AccessUser>>(
      'accessuser/search',
      { ...query, startIndex: users.length, pageSize },
      signal,
    );
    users.push(...list);
    progress(users.length, totalCount);
    if (list.length < pageSize) return users;
  }
}

/** Collects what is listed, and hands it over as a file. */
export function ExportDialog({ query, close }: { query: Query; close: () => void }) {
  const [{ done, all }, setProgress] = useState({ done: 0, all: 1 });
  const [error, setError] = useState('');
  const [fileUrl, setFileUrl] = useState<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was listed when the dialog opened
  useEffect(() => {
    const controller = new AbortController();
    loadAllUsers(query, controller.signal, (some, total) => setProgress({ done: some, all: Math.max(1, total) })).then(
      (people) => setFileUrl(URL.createObjectURL(new Blob([`\ufeff${writeCsv(people)}`], { type: 'text/csv' }))),
      (cause) => controller.signal.aborted || setError(asProblem(cause).message),
    );
    return () => controller.abort();
  }, []);
  useEffect(() => () => (fileUrl === null ? undefined : URL.revokeObjectURL(fileUrl)), [fileUrl]);
  return (
    <Dialog onClose={close} title="Export people">
      {error ? (
        <Text c="var(--loss)" role="alert">
          {error}
        </Text>
      ) : (
        <>
          <Text role="status">{fileUrl === null ? 'Collecting …' : `${formatCount(done, 'person', 'people')}, without passwords.`}</Text>
          <Progress value={(100 * done) / all} my="sm" aria-label="Progress" />
        </>
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={close}>
          Close
        </Button>
        {fileUrl !== null && (
          <Button component="a" href={fileUrl} download="people.csv" onClick={() => setTimeout(close, 0)}>
            Save the file
          </Button>
        )}
      </Group>
    </Dialog>
  );
}
