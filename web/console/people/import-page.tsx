import { Alert, Button, FileButton, Group, Progress, Stack, Table, Text, Textarea } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { FileUp } from 'lucide-react';
import { useState } from 'react';
import { Problem, post } from '#console/api/call.ts';
import { ProfileSelect } from '#console/profiles/profile-select.tsx';
import { forEachOf } from '#console/records/bulk.ts';
import { LeaveQuestion } from '#console/records/form-page.tsx';
import { counted } from '#console/records/format.ts';
import { PageHead } from '#console/records/page-head.tsx';
import { Section } from '#console/records/section.tsx';
import { profileWithPeople } from '#console/shares/share-queries.ts';
import { activeIn, columns, type Row, readPeople } from './csv.ts';
import { passwordFault } from './person-password.ts';

const mostShown = 200;

/** Why a row was not taken. */
interface Refused {
  readonly line: number;
  readonly name: string;
  readonly why: string;
}
interface Outcome {
  readonly tried: boolean;
  readonly taken: number;
  readonly refused: readonly Refused[];
}

const notTaken = (field: string, detail: string) => new Problem(400, 'fieldInvalid', `${field} ${detail}`, [{ field, detail }]);

/** Adds one row's person, and sets their password. @param dryRun the server only says whether it would */
async function addPerson({ cells }: Row, authId: number, dryRun: boolean): Promise<void> {
  const { password = '', active, ...fields } = cells;
  const isActive = activeIn(active);
  if (isActive === null) throw notTaken('active', `must be true or false, not "${active}"`);
  const wrong = password === '' ? null : passwordFault(fields.username ?? '', password);
  if (wrong !== null) throw notTaken('password', wrong);
  await post('accessuser/add', { ...fields, active: isActive, authId }, { dryRun });
  if (password === '' || dryRun) return;
  await post('accessuser/updateUserPassword', { username: fields.username, authId, userPassword: password, confirmPassword: password });
}

/** By row, the line that has its name already. */
function doubledNames(rows: readonly Row[]): ReadonlyMap<Row, number> {
  const lines = new Map<string, number>();
  return new Map(
    rows.flatMap((row) => {
      const name = (row.cells.username ?? '').toLowerCase();
      const before = lines.get(name);
      if (before === undefined) lines.set(name, row.line);
      return before === undefined ? [] : [[row, before] as const];
    }),
  );
}

async function run(rows: readonly Row[], authId: number, dryRun: boolean, progress: (done: number) => void): Promise<Outcome> {
  const doubled = doubledNames(rows);
  const take = async (row: Row) => {
    const before = doubled.get(row);
    if (before !== undefined) throw notTaken('username', `is the same as in line ${before}`);
    await addPerson(row, authId, dryRun);
  };
  const { done, refused } = await forEachOf(rows, take, progress);
  const said = refused.map(({ record: { line, cells }, problem }) => ({ line, name: cells.username ?? '', why: problem.message }));
  return { tried: dryRun, taken: done.length, refused: said.sort((a, b) => a.line - b.line) };
}

function RefusedRows({ refused }: { refused: readonly Refused[] }) {
  return (
    <Table.ScrollContainer minWidth={360}>
      <Table
        data={{
          head: ['Line', 'User name', 'Why it is refused'],
          body: refused.slice(0, mostShown).map(({ line, name, why }) => [line, name, why]),
        }}
      />
      {refused.length > mostShown && <Text c="dimmed">and {refused.length - mostShown} more</Text>}
    </Table.ScrollContainer>
  );
}

/** People from a CSV: every row is tried first, and each that is refused is named with its line and the reason. */
export function ImportPage() {
  const client = useQueryClient();
  const { data: first } = useQuery(profileWithPeople);
  const [chosen, setChosen] = useState<number | undefined>();
  const [text, setText] = useState('');
  const [through, setThrough] = useState<number | null>(null);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const authId = chosen ?? first?.id ?? 0;
  const read = text.trim() === '' ? null : readPeople(text);
  const rows = read && 'rows' in read ? read.rows : [];
  async function go(dryRun: boolean) {
    setOutcome(null);
    setThrough(0);
    setOutcome(await run(rows, authId, dryRun, setThrough));
    setThrough(null);
    if (!dryRun) await client.invalidateQueries({ queryKey: ['person'] });
  }
  const unfinished = () => rows.length > 0 && (outcome === null || outcome.tried);
  const blocker = useBlocker({ shouldBlockFn: unfinished, enableBeforeUnload: unfinished, withResolver: true });
  const change = (next: string) => {
    setText(next);
    setOutcome(null);
  };
  return (
    <>
      <PageHead title="Import people" lead={`A CSV whose first line names its columns: ${columns.join(', ')}. Only username is needed.`} />
      <Section title="Into" lead="The login profile that these people sign in by.">
        {first === null ? (
          <Text>There is no login profile with people of its own yet: make one under Login profiles.</Text>
        ) : (
          <ProfileSelect
            label="Login profile"
            withPeople
            value={authId || undefined}
            onChange={(id) => {
              setChosen(id);
              setOutcome(null);
            }}
          />
        )}
      </Section>
      <Section title="The file" lead="Choose it, or paste its lines.">
        <Group>
          <FileButton accept=".csv,text/csv,text/plain" onChange={(file) => file && void file.text().then(change)}>
            {(props) => (
              <Button {...props} variant="default" leftSection={<FileUp size={18} aria-hidden />}>
                Choose a file
              </Button>
            )}
          </FileButton>
          {rows.length > 0 && <Text>{counted(rows.length, 'row', 'rows')}</Text>}
        </Group>
        <Textarea
          aria-label="Lines of the CSV"
          placeholder={'username,firstName,lastName,email\nann,Ann,Lee,ann@example.com'}
          autosize
          minRows={4}
          maxRows={12}
          value={text}
          onChange={({ currentTarget }) => change(currentTarget.value)}
          error={read && 'wrong' in read ? read.wrong : undefined}
        />
      </Section>
      <LeaveQuestion blocker={blocker} words="What you have put in here is not imported, and is not kept." />
      <Stack>
        {through !== null && <Progress value={(100 * through) / Math.max(1, rows.length)} aria-label="Progress" />}
        {outcome && <Result outcome={outcome} />}
        <Group justify="flex-end">
          <Button variant="default" disabled={rows.length === 0 || authId === 0 || through !== null} onClick={() => void go(true)}>
            Try it first
          </Button>
          <Button disabled={!outcome?.tried || outcome.taken === 0} onClick={() => void go(false)}>
            {outcome?.tried ? `Import ${counted(outcome.taken, 'person', 'people')}` : 'Import'}
          </Button>
        </Group>
      </Stack>
    </>
  );
}

function Result({ outcome: { tried, taken, refused } }: { outcome: Outcome }) {
  const people = counted(taken, 'person', 'people');
  return (
    <div role="status">
      <Alert color="accent" title={tried ? `${people} would be added` : `${people} added`}>
        {refused.length === 0
          ? 'Every row is right.'
          : `${counted(refused.length, 'row is', 'rows are')} refused; the others do not depend on them.`}
      </Alert>
      {refused.length > 0 && <RefusedRows refused={refused} />}
    </div>
  );
}
