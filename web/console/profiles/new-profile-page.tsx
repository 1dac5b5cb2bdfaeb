import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { post } from '#console/api/call.ts';
import { FormOnPage } from '#console/records/form-page.tsx';
import { PageHead } from '#console/records/page-head.tsx';
import { showMessage } from '#console/records/told.tsx';
import { useFormPage } from '#console/records/use-form-page.ts';
import { withConfigurationErrors } from './configuration-faults.ts';
import { ProfileForm } from './profile-form.tsx';
import { profileBodyOf, emptyProfile, type ProfileValues } from './profile-values.ts';

/** A new way to sign in. */
export function NewProfilePage() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const page = useFormPage<ProfileValues>({
    draft: 'profile new',
    initial: emptyProfile,
    save: async (values) => {
      const { id } = await withConfigurationErrors(values, post<{ id: number }>('loginprofile/add', profileBodyOf(values)));
      await client.invalidateQueries({ queryKey: ['profile'] });
      showMessage({ words: 'The login profile is there: shares can name it.' });
      await navigate({ to: '/profiles/$id', params: { id: String(id) } });
    },
  });
  return (
    <>
      <PageHead title="New login profile" />
      <FormOnPage page={page} saveLabel="Make the login profile" isNew>
        <ProfileForm form={page.form} />
      </FormOnPage>
    </>
  );
}
