import { ActionIcon, Button, Group, Text } from '@mantine/core';
import { X } from 'lucide-react';
import { useState } from 'react';
import type { BulkAction } from './bulk.ts';
import { BulkDialog } from './bulk-dialog.tsx';
import { formatCount, type Noun } from './format.ts';
import type { Row } from './record-table.tsx';

interface Props<T extends Row> {
  readonly kind: string;
  readonly noun: Noun;
  readonly actions: readonly BulkAction<T>[];
  readonly selected: ReadonlyMap<number, T>;
  readonly nameOf: (record: T) => string;
  readonly clear: () => void;
}

/** Shows the number of selected records and the actions for them, at the bottom of the page. */
export function BulkBar<T extends Row>({ kind, noun, actions, selected, nameOf, clear }: Props<T>) {
  const [action, setAction] = useState<BulkAction<T> | null>(null);
  if (selected.size === 0 && !action) return null;
  return (
    <>
      {selected.size > 0 && (
        <section className="bulk-bar" aria-label="Bulk actions">
          <Text fw={550}>{formatCount(selected.size, 'selected', 'selected')}</Text>
          <Group gap="xs">
            {actions.map((action) => (
              <Button key={action.name} variant="default" size="xs" onClick={() => setAction(action)}>
                {action.name}
              </Button>
            ))}
            <ActionIcon onClick={clear} aria-label="Clear selection">
              <X size={18} aria-hidden />
            </ActionIcon>
          </Group>
        </section>
      )}
      {action && (
        <BulkDialog
          key={action.name}
          kind={kind}
          noun={noun}
          action={action}
          records={[...selected.values()]}
          nameOf={nameOf}
          close={(changed) => {
            setAction(null);
            if (changed) clear();
          }}
        />
      )}
    </>
  );
}
