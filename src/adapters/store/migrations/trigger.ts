import type { ColumnTypes } from './migration.ts';

/**
 * Returns the statements that create a trigger in an engine.
 * @param on when it fires, such as `BEFORE DELETE ON share`
 * @param body statements, each with its semicolon
 */
export function createTriggerStatements({ engine }: ColumnTypes, name: string, on: string, body: string, when?: string): readonly string[] {
  const condition = when === undefined ? '' : `WHEN (${when})`;
  if (engine === 'sqlite') return [`CREATE TRIGGER ${name} ${on} ${condition} BEGIN ${body} END`];
  const row = on.includes('DELETE') ? 'OLD' : 'NEW';
  return [
    `CREATE FUNCTION ${name}_does() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} RETURN ${row}; END $$`,
    `CREATE TRIGGER ${name} ${on} FOR EACH ROW ${condition} EXECUTE FUNCTION ${name}_does()`,
  ];
}
