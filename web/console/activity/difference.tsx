import { Table } from '@mantine/core';

const unseen = ['etag', 'updateDateTime', 'updatedOwner'];

type Fields = Readonly<Record<string, unknown>>;
const fieldsOf = (json: string | null): Fields => (json === null ? {} : JSON.parse(json));
const text = (value: unknown) => (value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value));

/** What a change changed, field by field, where somebody wants to know. */
export function Difference({ before, after }: { before: string | null; after: string | null }) {
  const [was, is] = [fieldsOf(before), fieldsOf(after)];
  const changed = [...new Set([...Object.keys(was), ...Object.keys(is)])].filter(
    (name) => !unseen.includes(name) && text(was[name]) !== text(is[name]),
  );
  if (changed.length === 0) return null;
  return (
    <details className="difference">
      <summary>{before && after ? `${changed.length} fields` : 'Details'}</summary>
      <Table layout="fixed">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Field</Table.Th>
            {before && <Table.Th>Before</Table.Th>}
            {after && <Table.Th>After</Table.Th>}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {changed.map((name) => (
            <Table.Tr key={name}>
              <Table.Th scope="row">{name}</Table.Th>
              {before && <Table.Td>{text(was[name])}</Table.Td>}
              {after && <Table.Td>{text(is[name])}</Table.Td>}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </details>
  );
}
