import { Button, Group, List, Paper, Text, Title } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Check, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { asProblem } from '#console/api/call.ts';
import type { TestedStep } from '#core/records/test-result.ts';

interface Props {
  readonly id: string;
  readonly title: string;
  /** Returns the steps, up to the first one that fails. */
  readonly run: () => Promise<{ readonly steps: readonly TestedStep[] }>;
  /** The text of each step. */
  readonly labels: Readonly<Record<string, string>>;
  readonly children?: ReactNode;
}

/** A panel that runs a test and shows the result of each step. */
export function TestPanel({ id, title, run, labels, children }: Props) {
  const test = useMutation({ mutationFn: run });
  return (
    <Paper withBorder className="panel" component="section" aria-labelledby={id}>
      <Group justify="space-between">
        <Title order={2} size="h4" id={id}>
          {title}
        </Title>
        <Button variant="default" loading={test.isPending} onClick={() => test.mutate()}>
          Run test
        </Button>
      </Group>
      {test.error && (
        <Text c="var(--danger)" role="alert">
          {asProblem(test.error).message}
        </Text>
      )}
      {test.data && (
        <div role="status">
          <List listStyleType="none" mt="sm">
            {test.data.steps.map(({ step, passed, detail }) => (
              <List.Item
                key={step}
                icon={
                  passed ? (
                    <Check size={16} color="var(--done)" aria-label="Works:" />
                  ) : (
                    <X size={16} color="var(--danger)" aria-label="Fails:" />
                  )
                }
              >
                {labels[step] ?? step}
                {detail && `: ${detail}`}
              </List.Item>
            ))}
          </List>
        </div>
      )}
      {children}
    </Paper>
  );
}
