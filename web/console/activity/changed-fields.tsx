import { Table } from '@mantine/core';
import { formatCount } from '#console/components/format.ts';

const hiddenFields = ['etag', 'updateDateTime', 'updatedOwner'];

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (json: string | null): Fields => (json === null ? {} : JSON.parse(json));
const text = (value: unknown) => (value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value));

/** Shows the old and new value of each field that a change modified, except those that every change modifies. */
export function ChangedFields({ before, after }: { before: string | null; after: string | null }) {
  const [oldFields, newFields] = [fieldsOf(before), fieldsOf(after)];
  const changedNames = [...new Set([...Object.keys(oldFields), ...Object.keys(newFields)])].filter(
    (name) => !hiddenFields.includes(name) && text(oldFields[name]) !== text(newFields[name]),
  );
  if (changedNames.length === 0) return null;
  return (
    <details className="difference">
      <summary>{before && after ? formatCount(changedNames.length, 'changed field', 'changed fields') : 'Details'}</summary>
      <Table layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Field</Table.Th>
            {before && <Table.Th>Before</Table.Th>}
            {after && <Table.Th>After</Table.Th>}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changedNames.map((name) => (
            <Table.Tr key={name}>
              <Table.Th scope="row">{name}</Table.Th>
              {before && <Table.Td>{text(oldFields[name])}</Table.Td>}
              {after && <Table.Td>{text(newFields[name])}</Table.Td>}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </details>
  );
}
