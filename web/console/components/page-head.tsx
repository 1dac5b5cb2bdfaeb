import { Group, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

export function PageHead({ title, lead, children }: { title: string; lead?: ReactNode; children?: ReactNode }) {
  return (
    <header className="page-head">
      <title>{`${title} · Postern`}</title>
      <div className="page-title">
        <Title order={1}>{title}</Title>
        {lead && <Text c="dimmed">{lead}</Text>}
      </div>
      {children && <Group gap="sm">{children}</Group>}
    </header>
  );
}
