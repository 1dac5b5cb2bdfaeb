import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { post } from '#console/api/call.ts';
import { withConfigurationErrors } from '#console/components/configuration-errors.ts';
import { FormPageView } from '#console/components/form-page.tsx';
import { PageHead } from '#console/components/page-head.tsx';
import { showMessage } from '#console/components/show-message.tsx';
import { useFormPage } from '#console/components/use-form-page.ts';
import { ProfileForm } from './profile-form.tsx';
import { emptyProfileValues, type ProfileValues, profileBodyOf } from './profile-values.ts';

export function NewProfilePage() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const page = useFormPage<ProfileValues>({
    draft: 'profile new',
    initial: emptyProfileValues,
    save: async (values) => {
      const { id } = await withConfigurationErrors(values, post('loginprofile/add', profileBodyOf(values)));
      await client.invalidateQueries({ queryKey: ['profile'] });
      showMessage({ text: 'Login profile created. You can now use it in shares.' });
      await navigate({ to: '/profiles/$id', params: { id: String(id) } });
    },
  });
  return (
    <>
      <PageHead title="Create login profile" />
      <FormPageView page={page} saveLabel="Create login profile" isNew>
        <ProfileForm form={page.form} />
      </FormPageView>
    </>
  );
}
