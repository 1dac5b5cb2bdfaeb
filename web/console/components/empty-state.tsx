import { Group, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** Shown in place of an empty list: what belongs there, and how to add it. */
export const EmptyState = ({ title, text, children }: { title: string; text: string; children?: ReactNode }) => (
  <div className="empty">
    <Title order={2} size="h3">
      {title}
    </Title>
    <Text c="dimmed">{text}</Text>
    {children && <Group justify="center">{children}</Group>}
  </div>
);
