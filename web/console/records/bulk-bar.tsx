import { ActionIcon, Button, Group, Text } from '@mantine/core';
import { X } from 'lucide-react';
import { useState } from 'react';
import type { BulkAction } from './bulk.ts';
import { BulkDialog } from './bulk-dialog.tsx';
import { formatCount, type Noun } from './format.ts';
import type { Row } from './record-table.tsx';

interface Props<T extends Row> {
  readonly kind: string;
  readonly of: Noun;
  readonly actions: readonly BulkAction<T>[];
  readonly chosen: ReadonlyMap<number, T>;
  readonly nameOf: (record: T) => string;
  readonly clear: () => void;
}

/** At the foot while records are chosen: how many, and what can be done with them. */
export function BulkBar<T extends Row>({ kind, of, actions, chosen, nameOf, clear }: Props<T>) {
  const [action, setAction] = useState<BulkAction<T> | null>(null);
  if (chosen.size === 0 && !action) return null;
  return (
    <>
      {chosen.size > 0 && (
        <section className="bulk-bar" aria-label="What is chosen">
          <Text fw={550}>{formatCount(chosen.size, 'chosen', 'chosen')}</Text>
          <Group gap="xs">
            {actions.map((action) => (
              <Button key={action.name} variant="default" size="xs" onClick={() => setAction(action)}>
                {action.name}
              </Button>
            ))}
            <ActionIcon onClick={clear} aria-label="Choose none">
              <X size={18} aria-hidden />
            </ActionIcon>
          </Group>
        </section>
      )}
      {action && (
        <BulkDialog
          key={action.name}
          kind={kind}
          of={of}
          action={action}
          records={[...chosen.values()]}
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
