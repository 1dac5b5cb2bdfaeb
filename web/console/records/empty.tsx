import { Group, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** What belongs on an empty page, and how to put it there. */
export const EmptyState = ({ title, words, children }: { title: string; words: string; children?: ReactNode }) => (
  <div className="empty">
    <Title order={2} size="h3">
      {title}
    </Title>
    <Text c="dimmed">{words}</Text>
    {children && <Group justify="center">{children}</Group>}
  </div>
);
