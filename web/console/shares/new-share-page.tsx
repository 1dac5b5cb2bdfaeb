import { Alert, Skeleton } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { asProblem, post } from '#console/api/call.ts';
import { FormPageView } from '#console/components/form-page.tsx';
import { PageHead } from '#console/components/page-head.tsx';
import { useFormPage } from '#console/components/use-form-page.ts';
import { LoadError } from '#console/shell/load-error.tsx';
import { type LoginProfile, profileTypes } from '#core/records/login-profile.ts';
import type { TenantPolicyRecord } from '#core/records/policy.ts';
import { permissionsOf } from './permissions.ts';
import { ShareForm, ShareSentence } from './share-form.tsx';
import { defaultProfile, locationChoices, policyQuery } from './share-queries.ts';
import { newShareValues, type ShareValues, shareBodyOf, shareFieldNames } from './share-values.ts';
import { latestEnd } from './validity-fields.tsx';

export function NewSharePage() {
  const locations = useQuery(locationChoices);
  const profile = useQuery(defaultProfile);
  const { welcome } = useSearch({ strict: false });
  const policy = useQuery(policyQuery);
  const error = locations.error ?? profile.error ?? policy.error;
  const reset = () => void Promise.all([locations.refetch(), profile.refetch(), policy.refetch()]);
  if (error) return <LoadError error={error} reset={reset} />;
  if (!locations.data || !profile.data || !policy.data) return <Skeleton height={320} />;
  return (
    <>
      <PageHead title="Create share" lead="Publish a file or folder by link." />
      {welcome && (
        <Alert title="Three steps to your first link" color="accent" mb="md">
          Choose a file or folder, who can open it, and what they can do. You can keep the defaults of all other fields.
        </Alert>
      )}
      <NewShareForm initial={withPolicy(newShareValues(locations.data[0]?.name ?? '', profile.data.id), policy.data, profile.data)} />
    </>
  );
}

/** Returns the initial values of a new share, adapted to the policy of the tenant. */
const withPolicy = (values: ShareValues, policy: TenantPolicyRecord, { typeId }: LoginProfile): ShareValues => ({
  ...values,
  ...(policy.defaultPermissions === '' ? {} : permissionsOf(policy.defaultPermissions)),
  ...(policy.longestValidityDays === null ? {} : { until: latestEnd(policy.longestValidityDays) }),
  ownPassword: policy.signInRequired && typeId === profileTypes.PUBLIC,
});

/** Adds a share. A typed path may be a file or a folder. If the server refuses the value of `folder`, sends the other value. */
async function addShare(values: ShareValues): Promise<{ id: number }> {
  try {
    return await post('share/add', shareBodyOf(values));
  } catch (cause) {
    if (!asProblem(cause).fieldErrors.some(({ field }) => field === 'folder')) throw cause;
    return post('share/add', shareBodyOf({ ...values, folder: !values.folder }));
  }
}

function NewShareForm({ initial }: { initial: ShareValues }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const page = useFormPage<ShareValues>({
    draft: 'share new',
    initial,
    names: shareFieldNames,
    save: async (values) => {
      const { id } = await addShare(values);
      await client.invalidateQueries({ queryKey: ['share'] });
      await navigate({ to: '/shares/$id', params: { id: String(id) }, search: { created: true } });
    },
  });
  return (
    <FormPageView page={page} saveLabel="Create share" isNew>
      <ShareSentence values={page.form.values} />
      <ShareForm form={page.form} fixed={false} />
    </FormPageView>
  );
}
