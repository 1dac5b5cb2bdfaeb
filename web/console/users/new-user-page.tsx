import { PasswordInput, Skeleton } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { asProblem, Problem, post } from '#console/api/call.ts';
import { FormPageView } from '#console/components/form-page.tsx';
import { PageHead } from '#console/components/page-head.tsx';
import { Section } from '#console/components/section.tsx';
import { showMessage } from '#console/components/show-message.tsx';
import { useFormPage } from '#console/components/use-form-page.ts';
import { firstProfileWithUsers } from '#console/shares/share-queries.ts';
import { LoadError } from '#console/shell/load-error.tsx';
import { PasswordAdvice } from '#console/shell/password-advice.tsx';
import { UserFields } from './user-fields.tsx';
import { passwordError } from './user-password.ts';
import type { UserValues } from './user-values.ts';

/** The form of a new access user. The password can be set now or later. */
export function NewUserPage() {
  const { data: profile, error, refetch } = useQuery(firstProfileWithUsers);
  if (profile === undefined && error) return <LoadError error={error} reset={() => void refetch()} />;
  if (profile === undefined) return <Skeleton height={320} />;
  return (
    <>
      <PageHead title="Add user" />
      <NewUserForm authId={profile?.id ?? 0} />
    </>
  );
}

function NewUserForm({ authId }: { authId: number }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const page = useFormPage<UserValues>({
    draft: 'user new',
    initial: { username: '', firstName: '', lastName: '', email: '', authId, active: true, password: '' },
    save: async ({ password, ...values }) => {
      const passwordDetail = password === '' ? null : passwordError(values.username, password);
      if (passwordDetail !== null)
        throw new Problem(400, 'fieldInvalid', passwordDetail, { fieldErrors: [{ field: 'password', detail: passwordDetail }] });
      const { id, message } = await post('accessuser/add', values);
      const passwordFailure = password === '' ? null : await setPassword(values, password);
      await client.invalidateQueries({ queryKey: ['user'] });
      showMessage(
        passwordFailure === null
          ? { text: `${message}.` }
          : { text: `${values.username} was added without a password: ${passwordFailure}`, failed: true },
      );
      await navigate({ to: '/users/$id', params: { id: String(id) } });
    },
  });
  const { form } = page;
  return (
    <FormPageView page={page} saveLabel="Add user" isNew>
      <UserFields form={form} isNew />
      <Section
        title="Password"
        lead="Needed only for a login profile with the sign-in method “Users with passwords”: users of that profile cannot sign in until a password is set. You can set it at any time."
      >
        <PasswordInput label="Password" autoComplete="new-password" {...form.getInputProps('password')} />
        <PasswordAdvice password={form.values.password} />
      </Section>
    </FormPageView>
  );
}

/** Sets the password. @returns the error message, or null */
async function setPassword({ username, authId }: Pick<UserValues, 'username' | 'authId'>, password: string): Promise<string | null> {
  try {
    await post('accessuser/updateUserPassword', { username, authId, userPassword: password, confirmPassword: password });
    return null;
  } catch (cause) {
    return asProblem(cause).message;
  }
}
