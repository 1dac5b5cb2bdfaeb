import { Code, NativeSelect, Table, Text } from '@mantine/core';
import { type ColumnMapping, fieldLabels, type ImportField, importFields, withColumn } from './import-columns.ts';
import type { CsvTable } from './read-csv.ts';

const notImported = '';
const options = [
  { value: notImported, label: 'Do not import' },
  ...importFields.map((field) => ({ value: field, label: fieldLabels[field] })),
];
const fieldOf = (value: string): ImportField | null => importFields.find((field) => field === value) ?? null;

interface Props {
  readonly table: CsvTable;
  readonly mapping: ColumnMapping;
  readonly disabled: boolean;
  readonly onChange: (mapping: ColumnMapping) => void;
}

/** Lets the operator map columns to fields, and lists the columns that are not imported. */
export function ColumnFields({ table: { headings, records }, mapping, disabled, onChange }: Props) {
  const nameOf = (column: number) => headings[column] || `Column ${column + 1}`;
  const ignoredColumns = headings.flatMap((_, column) => (mapping[column] ? [] : [nameOf(column)]));
  return (
    <>
      <Table.ScrollContainer minWidth={300}>
        <Table verticalSpacing="xs">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Column</Table.Th>
              <Table.Th visibleFrom="xs">First row</Table.Th>
              <Table.Th>Imported as</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {headings.map((_, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a column is identified by its position, as two columns may have the same heading
              <Table.Tr key={column}>
                <Table.Td>{nameOf(column)}</Table.Td>
                <Table.Td visibleFrom="xs">
                  <Sample text={mapping[column] === 'password' ? '••••••' : (records[0]?.cells[column] ?? '')} />
                </Table.Td>
                <Table.Td>
                  <NativeSelect
                    aria-label={`Field for the column ${nameOf(column)}`}
                    data={options}
                    disabled={disabled}
                    value={mapping[column] ?? notImported}
                    onChange={({ currentTarget }) => onChange(withColumn(mapping, column, fieldOf(currentTarget.value)))}
                  />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {!mapping.includes('username') && (
        <Text c="var(--danger)" role="alert">
          Choose the column that contains the user names.
        </Text>
      )}
      {ignoredColumns.length > 0 && <Text c="dimmed">{`Not imported: ${ignoredColumns.join(', ')}.`}</Text>}
    </>
  );
}

const maxSampleLength = 40;

const Sample = ({ text }: { text: string }) =>
  text === '' ? null : <Code>{text.length > maxSampleLength ? `${text.slice(0, maxSampleLength)}…` : text}</Code>;
