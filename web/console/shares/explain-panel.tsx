import { Button, Group, List, Paper, SegmentedControl, Text, TextInput, Title } from '@mantine/core';
import { DateTimePicker } from '@mantine/dates';
import { useMutation } from '@tanstack/react-query';
import { Check, Minus, X } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { asProblem, post } from '#console/api/call.ts';
import { requiresSignIn } from '#core/records/login-profile.ts';
import type { Share } from '#core/records/share.ts';
import type { ResponseOf } from '#features/operation-types.ts';
import { hasVisitorGroups, instantOf } from './share-values.ts';

type Explanation = ResponseOf<'share/explain'>;

const verbs: Readonly<Record<string, string>> = {
  visit: 'open the link',
  list: 'list files',
  view: 'view files',
  download: 'download files',
  downloadFolder: 'download folders',
  upload: 'upload files',
  createFolder: 'create folders',
  rename: 'rename files and folders',
  delete: 'delete files and folders',
};
const list = new Intl.ListFormat('en', { type: 'conjunction' });

/** Shows the result of a check. @param mustSignIn the visitor has not signed in, and the link requires a sign-in */
function ExplanationResult({ explanation, mustSignIn }: { explanation: Explanation; mustSignIn: boolean }) {
  const allowedVerbs = explanation.outcomes.filter((outcome) => outcome.allowed).map(({ action }) => verbs[action] ?? action);
  const onlyVisit = mustSignIn && allowedVerbs.length === 1;
  return (
    <div role="status">
      <Text fw={550}>
        {allowedVerbs.length === 0 && 'This visitor cannot do anything.'}
        {onlyVisit && 'This visitor can open the page and sign in, and nothing else.'}
        {allowedVerbs.length > 0 && !onlyVisit && `This visitor can ${list.format(allowedVerbs)}.`}
      </Text>
      <List listStyleType="none" size="sm" mt="xs" spacing={4}>
        {explanation.rules.map(({ rule, passed, reason }) => (
          <List.Item key={rule} icon={<ResultIcon passed={passed} />}>
            {reason}
          </List.Item>
        ))}
      </List>
    </div>
  );
}

function ResultIcon({ passed }: { passed: boolean | null }) {
  if (passed === null) return <Minus size={16} aria-label="Not checked:" />;
  return passed ? <Check size={16} color="var(--done)" aria-label="Passed:" /> : <X size={16} color="var(--danger)" aria-label="Failed:" />;
}

/** Returns the action that most visitors of the link want. The rules are shown for this action. */
function mainAction({ canView, canDownload, canUpload }: Share) {
  if (canView) return 'view';
  if (canDownload) return 'download';
  return canUpload ? 'upload' : 'visit';
}

/** Checks what a visitor could do from a given address at a given time. The server returns the result of each rule. */
export function ExplainPanel({ share }: { share: Share }) {
  const [by, setBy] = useState<'nobody' | 'name' | 'email'>('nobody');
  const [at, setAt] = useState('');
  const explanation = useMutation({
    mutationFn: (query: object) => post('share/explain', { id: share.id, action: mainAction(share), ...query }),
  });
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const text = (name: string) => String(form.get(name) ?? '').trim() || undefined;
    const visitor = text('visitor');
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
        Check access
      </Title>
      <Text size="sm" c="dimmed">
        Uses the same rules as the link, and assumes that an identity provider or directory lets the visitor sign in. Unsaved changes are
        not included.
      </Text>
      <form onSubmit={submit} onInput={() => explanation.reset()}>
        <Group align="end" gap="sm" mt="sm" className="explain">
          <SegmentedControl
            aria-label="Visitor"
            value={by}
            onChange={(next) => {
              setBy(next);
              explanation.reset();
            }}
            data={[
              { value: 'nobody', label: 'Not signed in' },
              { value: 'name', label: 'User name' },
              { value: 'email', label: 'E-mail' },
            ]}
          />
          {by !== 'nobody' && <TextInput name="visitor" label={by === 'name' ? 'User name' : 'E-mail'} required withAsterisk={false} />}
          {by !== 'nobody' && hasVisitorGroups(share.authTypeId) && <TextInput name="groups" label="Groups" placeholder="none" />}
          <TextInput name="address" label="IP address" placeholder="any" />
          <DateTimePicker
            label="Time"
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
            submitButtonProps={{ 'aria-label': 'Apply time' }}
          />
          <Button type="submit" variant="default" loading={explanation.isPending}>
            Check access
          </Button>
        </Group>
      </form>
      {explanation.error && (
        <Text c="var(--danger)" role="alert" mt="sm">
          {asProblem(explanation.error).message}
        </Text>
      )}
      {explanation.data && (
        <ExplanationResult explanation={explanation.data} mustSignIn={by === 'nobody' && requiresSignIn(share.authTypeId)} />
      )}
    </Paper>
  );
}
