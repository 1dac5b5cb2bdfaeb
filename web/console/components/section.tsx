import { Stack, Text, Title } from '@mantine/core';
import { type ReactNode, useId } from 'react';

export function Section({ title, lead, children }: { title: string; lead?: ReactNode; children: ReactNode }) {
  const id = useId();
  return (
    <section className="section" aria-labelledby={id}>
      <div className="section-text">
        <Title order={2} size="h4" id={id}>
          {title}
        </Title>
        {lead && (
          <Text c="dimmed" size="sm">
            {lead}
          </Text>
        )}
      </div>
      <Stack className="section-fields">{children}</Stack>
    </section>
  );
}
