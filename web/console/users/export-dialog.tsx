import { Button, Group, Progress, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { ask, asProblem, type Page, type Query } from '#console/api/call.ts';
import { Dialog } from '#console/records/dialog.tsx';
import { counted } from '#console/records/format.ts';
import type { AccessUser } from '#core/records/access-user.ts';
import { writeCsv } from './write-csv.ts';

const pageSize = 1000;

/** Every match, by the order of their numbers: who is added meanwhile comes at the end. */
async function collect(query: Query, signal: AbortSignal, progress: (done: number, all: number) => void): Promise<AccessUser[]> {
  const people: AccessUser[] = [];
  for (;;) {
    const { list, totalCount } = await ask<Page<AccessUser>>(
      'accessuser/search',
      { ...query, startIndex: people.length, pageSize },
      signal,
    );
    people.push(...list);
    progress(people.length, totalCount);
    if (list.length < pageSize) return people;
  }
}

/** Collects what is listed, and hands it over as a file. */
export function ExportDialog({ query, close }: { query: Query; close: () => void }) {
  const [{ done, all }, setProgress] = useState({ done: 0, all: 1 });
  const [failed, setFailed] = useState('');
  const [address, setAddress] = useState<string | null>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what was listed when the dialog opened
  useEffect(() => {
    const end = new AbortController();
    collect(query, end.signal, (some, total) => setProgress({ done: some, all: Math.max(1, total) })).then(
      (people) => setAddress(URL.createObjectURL(new Blob([`\ufeff${writeCsv(people)}`], { type: 'text/csv' }))),
      (cause) => end.signal.aborted || setFailed(asProblem(cause).message),
    );
    return () => end.abort();
  }, []);
  useEffect(() => () => (address === null ? undefined : URL.revokeObjectURL(address)), [address]);
  return (
    <Dialog onClose={close} title="Export people">
      {failed ? (
        <Text c="var(--loss)" role="alert">
          {failed}
        </Text>
      ) : (
        <>
          <Text role="status">{address === null ? 'Collecting …' : `${counted(done, 'person', 'people')}, without passwords.`}</Text>
          <Progress value={(100 * done) / all} my="sm" aria-label="Progress" />
        </>
      )}
      <Group justify="flex-end">
        <Button variant="default" onClick={close}>
          Close
        </Button>
        {address !== null && (
          <Button component="a" href={address} download="people.csv" onClick={() => setTimeout(close, 0)}>
            Save the file
          </Button>
        )}
      </Group>
    </Dialog>
  );
}
