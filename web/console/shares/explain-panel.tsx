import { Button, Group, List, Paper, SegmentedControl, Text, TextInput, Title } from '@mantine/core';
import { DateTimePicker } from '@mantine/dates';
import { useMutation } from '@tanstack/react-query';
import { Check, Minus, X } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { asProblem, post } from '#console/api/call.ts';
import type { Share } from '#core/records/share.ts';
import { hasGroups, instantOf } from './share-values.ts';

interface Explanation {
  readonly rules: readonly { readonly rule: string; readonly passed: boolean | null; readonly reason: string }[];
  readonly outcomes: readonly { readonly action: string; readonly allowed: boolean }[];
}

const verbs: Readonly<Record<string, string>> = {
  visit: 'open the link',
  list: 'see the list',
  view: 'look at files',
  download: 'download files',
  downloadFolder: 'download folders',
  upload: 'upload',
  createFolder: 'make folders',
  rename: 'rename',
  delete: 'delete',
};
const list = new Intl.ListFormat('en', { type: 'conjunction' });

function ExplanationResult({ answer, nobody }: { answer: Explanation; nobody: boolean }) {
  const allowed = answer.outcomes.filter((outcome) => outcome.allowed).map(({ action }) => verbs[action] ?? action);
  const onlyVisit = nobody && allowed.length === 1;
  return (
    <div role="status">
      <Text fw={550}>
        {allowed.length === 0 && 'They could do nothing there.'}
        {onlyVisit && 'They could open the page and sign in, and nothing else.'}
        {allowed.length > 0 && !onlyVisit && `They could ${list.format(allowed)}.`}
      </Text>
      <List listStyleType="none" size="sm" mt="xs" spacing={4}>
        {answer.rules.map(({ rule, passed, reason }) => (
          <List.Item key={rule} icon={<ResultIcon passed={passed} />}>
            {reason}
          </List.Item>
        ))}
      </List>
    </div>
  );
}

function ResultIcon({ passed }: { passed: boolean | null }) {
  if (passed === null) return <Minus size={16} aria-label="Left open:" />;
  return passed ? (
    <Check size={16} color="var(--done)" aria-label="Holds:" />
  ) : (
    <X size={16} color="var(--loss)" aria-label="Does not hold:" />
  );
}

/** What the link is there for: whoever may do that has entered. */
function mainAction({ canView, canDownload, canUpload }: Share): string {
  if (canView) return 'view';
  if (canDownload) return 'download';
  return canUpload ? 'upload' : 'visit';
}

/** Who could enter, from where, when: answered by the very rules that guard the link. */
export function ExplainPanel({ share }: { share: Share }) {
  const [by, setBy] = useState<'nobody' | 'name' | 'email'>('nobody');
  const [at, setAt] = useState('');
  const explanation = useMutation({
    mutationFn: (question: object) => post<Explanation>('share/explain', { id: share.id, action: mainAction(share), ...question }),
  });
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '').trim() || undefined;
    const visitor = text('person');
    const instant = instantOf(at);
    explanation.mutate({
      ...(by === 'name' && visitor ? { username: visitor } : {}),
      ...(by === 'email' && visitor ? { email: visitor } : {}),
      groupNames: text('groups'),
      address: text('address'),
      ...(instant ? { at: instant } : {}),
    });
  }
  return (
    <Paper withBorder className="panel" component="section" aria-labelledby="explain">
      <Title order={2} size="h4" id="explain">
        Who could enter?
      </Title>
      <Text size="sm" c="dimmed">
        Answered by the rules that guard the link, as the share is saved.
      </Text>
      <form onSubmit={submit} onInput={() => explanation.reset()}>
        <Group align="end" gap="sm" mt="sm" className="explain">
          <SegmentedControl
            aria-label="Who is asked about"
            value={by}
            onChange={(next) => {
              setBy(next);
              explanation.reset();
            }}
            data={[
              { value: 'nobody', label: 'Not signed in' },
              { value: 'name', label: 'Name' },
              { value: 'email', label: 'E-mail' },
            ]}
          />
          {by !== 'nobody' && <TextInput name="person" label={by === 'name' ? 'Name' : 'E-mail'} required withAsterisk={false} />}
          {by !== 'nobody' && hasGroups(share.authTypeId) && <TextInput name="groups" label="In groups" placeholder="none" />}
          <TextInput name="address" label="From address" placeholder="any" />
          <DateTimePicker
            label="At"
            placeholder="now"
            clearable
            valueFormat="D MMM YYYY HH:mm"
            miw={170}
            value={at || null}
            onChange={(value) => {
              setAt(value ?? '');
              explanation.reset();
            }}
            clearButtonProps={{ 'aria-label': 'Now' }}
            submitButtonProps={{ 'aria-label': 'Take this time' }}
          />
          <Button type="submit" variant="default" loading={explanation.isPending}>
            Ask
          </Button>
        </Group>
      </form>
      {explanation.error && (
        <Text c="var(--loss)" role="alert" mt="sm">
          {asProblem(explanation.error).message}
        </Text>
      )}
      {explanation.data && <ExplanationResult answer={explanation.data} nobody={by === 'nobody'} />}
    </Paper>
  );
}
