import { useMemo } from 'preact/hooks';
import { useTranslation } from '#visitor/translations/use-translation.ts';
import { readCsvRows } from './csv-rows.ts';
import { PlainText } from './plain-text.tsx';
import './csv-table.css';

interface Properties {
  readonly name: string;
  readonly text: string;
  /** Whether the text ends in the middle of the file. */
  readonly isCut: boolean;
}

/** Shows a CSV file as a table; as text if it is no table. */
export function CsvTable({ name, text, isCut }: Properties) {
  const { translate } = useTranslation();
  const table = useMemo(() => readCsvRows(text, isCut), [text, isCut]);
  if (!table) return <PlainText text={text} />;
  const [headings = [], ...rows] = table.rows;
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard */}
      <section class="csv" tabIndex={0} aria-label={name}>
        <table>
          <thead>
            <tr>
              {headings.map((heading, column) => (
                <th key={column} scope="col" dir="auto">
                  {heading}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((cells, row) => (
              <tr key={row}>
                {headings.map((_, column) => (
                  <td key={column} dir="auto">
                    {cells[column]}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {table.isCut && <p class="muted small">{translate('tableCut')}</p>}
    </>
  );
}
