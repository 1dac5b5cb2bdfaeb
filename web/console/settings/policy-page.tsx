import { Alert, Checkbox, NumberInput, Skeleton, Stack, Switch } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { post } from '#console/api/call.ts';
import { FormPageView } from '#console/components/form-page.tsx';
import { formatCount } from '#console/components/format.ts';
import { PageHead } from '#console/components/page-head.tsx';
import { Section } from '#console/components/section.tsx';
import { showMessage } from '#console/components/show-message.tsx';
import { useFormPage } from '#console/components/use-form-page.ts';
import { permissions } from '#console/shares/permissions.ts';
import { policyQuery } from '#console/shares/share-queries.ts';
import { LoadError } from '#console/shell/load-error.tsx';
import { formatList, parseList } from '#core/list-text.ts';
import type { TenantPolicyRecord } from '#core/records/policy.ts';
import { SettingsTabs } from './settings-tabs.tsx';

interface PolicyValues extends Record<string, unknown> {
  readonly longestValidityDays: number | string;
  readonly signInRequired: boolean;
  readonly secondFactorRequired: boolean;
  readonly defaultPermissions: string[];
}

const policyValuesOf = ({
  longestValidityDays,
  signInRequired,
  secondFactorRequired,
  defaultPermissions,
}: TenantPolicyRecord): PolicyValues => ({
  longestValidityDays: longestValidityDays ?? '',
  signInRequired,
  secondFactorRequired,
  defaultPermissions: parseList(defaultPermissions) ?? [],
});

const policyBodyOf = ({ longestValidityDays, signInRequired, secondFactorRequired, defaultPermissions }: PolicyValues) => ({
  longestValidityDays: longestValidityDays === '' ? null : Number(longestValidityDays),
  signInRequired,
  secondFactorRequired,
  defaultPermissions: formatList(defaultPermissions),
});

/** The policy of the tenant. It applies to shares from the console and from the REST API, and to operators. */
export function PolicyPage() {
  const { data: policy, error, refetch } = useQuery(policyQuery);
  return (
    <>
      <PageHead title="Policy" />
      <SettingsTabs at="/settings/policy" />
      {error ? (
        <LoadError error={error} reset={() => void refetch()} />
      ) : policy ? (
        <PolicyForm policy={policy} />
      ) : (
        <Skeleton height={320} />
      )}
    </>
  );
}

function PolicyForm({ policy }: { policy: TenantPolicyRecord }) {
  const client = useQueryClient();
  const page = useFormPage<PolicyValues>({
    draft: 'policy',
    initial: policyValuesOf(policy),
    save: async (values) => {
      await post('tenant/updatePolicy', policyBodyOf(values));
      const savedPolicy = await client.fetchQuery({ ...policyQuery, staleTime: 0 });
      page.reset(policyValuesOf(savedPolicy));
      showMessage({
        text: 'Saved. The rules for shares apply to shares that are created or changed from now on. The rule for operators applies at once.',
      });
    },
  });
  const { form } = page;
  return (
    <FormPageView page={page} saveLabel="Save">
      {policy.outsideCount > 0 && (
        <Alert color="accent" mb="md" title={`${formatCount(policy.outsideCount, 'active share does', 'active shares do')} not comply`}>
          They keep working. The policy applies to them the next time they are changed.
        </Alert>
      )}
      <Section
        title="Expiry"
        lead="Limits how long a link is valid. The days are counted from the start of the share or from its last change, whichever is later."
      >
        <NumberInput
          label="Maximum validity (days)"
          description="Leave empty to allow links that never expire."
          min={1}
          max={36_500}
          allowDecimal={false}
          hideControls
          w={220}
          {...form.getInputProps('longestValidityDays')}
        />
      </Section>
      <Section title="Sign-in" lead="If required, active shares need a login profile with sign-in, or a password for the link.">
        <Switch label="Visitors must sign in" {...form.getInputProps('signInRequired', { type: 'checkbox' })} />
      </Section>
      <Section
        title="Operators"
        lead="If required, operators who sign in with a password must add a second factor before they can continue. API keys, and operators who sign in at the identity provider, need none."
      >
        <Switch label="Operators need a second factor" {...form.getInputProps('secondFactorRequired', { type: 'checkbox' })} />
      </Section>
      <Section
        title="New shares"
        lead="The permissions that are preselected for a new share. If you select none, the form preselects viewing files, downloading files and downloading folders."
      >
        <Checkbox.Group aria-label="Default permissions" {...form.getInputProps('defaultPermissions')}>
          <Stack gap="xs">
            {permissions.map(({ flag, name }) => (
              <Checkbox key={flag} value={flag} label={name} />
            ))}
          </Stack>
        </Checkbox.Group>
      </Section>
    </FormPageView>
  );
}
