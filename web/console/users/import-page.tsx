import { Alert, Button, FileButton, Group, Progress, Stack, Table, Text, Textarea } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { FileUp } from 'lucide-react';
import { useState } from 'react';
import { LeaveDialog } from '#console/components/form-page.tsx';
import { formatCount } from '#console/components/format.ts';
import { PageHead } from '#console/components/page-head.tsx';
import { Section } from '#console/components/section.tsx';
import { ProfileSelect } from '#console/profiles/profile-select.tsx';
import { firstProfileWithUsers } from '#console/shares/share-queries.ts';
import { ColumnFields } from './column-fields.tsx';
import { type ColumnMapping, guessMapping, type ImportRow, rowsOf } from './import-columns.ts';
import { type ImportOutcome, importUsers, type ReportedRow } from './import-users.ts';
import { type CsvTable, decodeText, readCsv } from './read-csv.ts';

const maxShown = 200;

function ReportedRows({ rows }: { rows: readonly ReportedRow[] }) {
  return (
    <Table.ScrollContainer minWidth={360}>
      <Table
        data={{
          head: ['Line', 'User name', 'Reason'],
          body: rows.slice(0, maxShown).map(({ line, name, reason }) => [line, name, reason]),
        }}
      />
      {rows.length > maxShown && <Text c="dimmed">and {rows.length - maxShown} more</Text>}
    </Table.ScrollContainer>
  );
}

function Outcome({ outcome: { dryRun, added, reportedRows, failure } }: { outcome: ImportOutcome }) {
  const users = formatCount(added, 'user', 'users');
  return (
    <div role="status">
      <Alert color="accent" title={dryRun ? `${users} would be added` : `${users} added`}>
        {reportedRows.length === 0
          ? failure === null
            ? 'No row has an error.'
            : 'None of the rows before the interruption has an error.'
          : `${formatCount(reportedRows.length, 'row needs', 'rows need')} your attention.`}
      </Alert>
      {failure !== null && (
        <Alert color="red" mt="sm" title={`The ${dryRun ? 'check' : 'import'} stopped before the last row`}>
          {failure}{' '}
          {dryRun
            ? 'No user was added. Check the file again.'
            : 'Import the file again. Users who are already added are reported, and not added twice.'}
        </Alert>
      )}
      {reportedRows.length > 0 && <ReportedRows rows={reportedRows} />}
    </div>
  );
}

interface FileFieldsProps {
  readonly text: string;
  readonly error: string | undefined;
  readonly rowCount: number;
  readonly disabled: boolean;
  readonly onChange: (text: string) => void;
}

function FileFields({ text, error, rowCount, disabled, onChange }: FileFieldsProps) {
  return (
    <>
      <Group>
        <FileButton
          disabled={disabled}
          accept=".csv,.txt,.tsv,text/csv,text/plain"
          onChange={(file) => file && void file.arrayBuffer().then((bytes) => onChange(decodeText(bytes)))}
        >
          {(props) => (
            <Button {...props} variant="default" disabled={disabled} leftSection={<FileUp size={18} aria-hidden />}>
              Choose file
            </Button>
          )}
        </FileButton>
        {rowCount > 0 && <Text>{formatCount(rowCount, 'row', 'rows')}</Text>}
      </Group>
      <Textarea
        aria-label="CSV text"
        placeholder={'username,firstName,lastName,email\nann,Ann,Lee,ann@example.com'}
        autosize
        minRows={4}
        maxRows={12}
        value={text}
        disabled={disabled}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
        error={error}
      />
    </>
  );
}

/** Returns the state of an import: the text, its table, and the field of each column. */
function useImportFile() {
  const [text, setText] = useState('');
  const [table, setTable] = useState<CsvTable | null>(null);
  const [error, setError] = useState<string>();
  const [mapping, setMapping] = useState<ColumnMapping>([]);
  const change = (next: string) => {
    const result = next.trim() === '' ? null : readCsv(next);
    const nextTable = result && 'table' in result ? result.table : null;
    setText(next);
    setTable(nextTable);
    setError(result && 'error' in result ? result.error : undefined);
    // Keep the operator's mapping while the headings stay the same.
    if (nextTable?.headings.join('\n') !== table?.headings.join('\n')) setMapping(guessMapping(nextTable?.headings ?? []));
  };
  const rows: readonly ImportRow[] = table && mapping.includes('username') ? rowsOf(table, mapping) : [];
  return { text, table, error, mapping, rows, change, setMapping };
}

/** Adds users from a CSV file. A dry run checks every row first. Shows the rows that were refused or added without a password. */
export function ImportPage() {
  const client = useQueryClient();
  const { data: firstProfile } = useQuery(firstProfileWithUsers);
  const [chosenProfile, setChosenProfile] = useState<number | undefined>();
  const [rowsDone, setRowsDone] = useState<number | null>(null);
  const [outcome, setOutcome] = useState<ImportOutcome | null>(null);
  const { text, table, error, mapping, rows, change, setMapping } = useImportFile();
  const isRunning = rowsDone !== null; // the fields are then disabled, so that the outcome belongs to the rows on the page
  const authId = chosenProfile ?? firstProfile?.id ?? 0;
  async function runImport(dryRun: boolean) {
    setOutcome(null);
    setRowsDone(0);
    setOutcome(await importUsers(rows, { authId, dryRun }, setRowsDone));
    setRowsDone(null);
    if (!dryRun) await client.invalidateQueries({ queryKey: ['user'] });
  }
  const hasUnsavedInput = () => rows.length > 0 && (outcome === null || outcome.dryRun);
  const blocker = useBlocker({ shouldBlockFn: hasUnsavedInput, enableBeforeUnload: hasUnsavedInput, withResolver: true });
  return (
    <>
      <PageHead
        title="Import users"
        lead="Use a CSV file with column names in the first line, separated by commas, semicolons or tabs. Only user names are required."
      />
      <Section title="Login profile" lead="The users sign in with this login profile.">
        {firstProfile === null ? (
          <Text>No login profile uses access users yet. Create one under Login profiles.</Text>
        ) : (
          <ProfileSelect
            label="Login profile"
            withUsers
            disabled={isRunning}
            value={authId || undefined}
            onChange={(id) => {
              setChosenProfile(id);
              setOutcome(null);
            }}
          />
        )}
      </Section>
      <Section title="File" lead="Choose a file, or paste its lines.">
        <FileFields
          text={text}
          error={error}
          rowCount={rows.length}
          disabled={isRunning}
          onChange={(next) => {
            change(next);
            setOutcome(null);
          }}
        />
      </Section>
      {table && (
        <Section title="Columns" lead="Check what each column is imported as.">
          <ColumnFields
            table={table}
            mapping={mapping}
            disabled={isRunning}
            onChange={(next) => {
              setMapping(next);
              setOutcome(null);
            }}
          />
        </Section>
      )}
      <LeaveDialog blocker={blocker} text="The file is not imported yet. If you leave, you have to choose it again." />
      <Stack>
        {isRunning && <Progress value={(100 * rowsDone) / Math.max(1, rows.length)} aria-label="Progress" />}
        {outcome && <Outcome outcome={outcome} />}
        <Group justify="flex-end">
          <Button variant="default" disabled={rows.length === 0 || authId === 0 || isRunning} onClick={() => void runImport(true)}>
            Check file
          </Button>
          <Button disabled={!outcome?.dryRun || outcome.added === 0} onClick={() => void runImport(false)}>
            {outcome?.dryRun ? `Import ${formatCount(outcome.added, 'user', 'users')}` : 'Import'}
          </Button>
        </Group>
      </Stack>
    </>
  );
}
