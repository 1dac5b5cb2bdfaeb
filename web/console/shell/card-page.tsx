import { Paper, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

/** A card in the middle of an empty page, for sign-in, the first start and the set-up of a second factor. */
export function CardPage({ title, lead, children }: { title: string; lead?: string; children: ReactNode }) {
  return (
    <main className="card-page">
      <title>{`${title} · Postern`}</title>
      <Paper className="card-page-card" withBorder>
        <Title order={1} size="h2">
          {title}
        </Title>
        {lead && <Text c="dimmed">{lead}</Text>}
        {children}
      </Paper>
    </main>
  );
}
