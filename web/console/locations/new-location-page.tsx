import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { post } from '#console/api/call.ts';
import { FormOnPage } from '#console/components/form-page.tsx';
import { PageHead } from '#console/components/page-head.tsx';
import { useFormPage } from '#console/components/use-form-page.ts';
import { LocationFields, type LocationValues, locationBodyOf, locationFieldNames } from './location-fields.tsx';

/** The form of a new location. */
export function NewLocationPage() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const page = useFormPage<LocationValues>({
    draft: 'location new',
    initial: { name: '', folder: '', rest: {} },
    names: locationFieldNames,
    save: async (values) => {
      const { id } = await post('location/add', { kind: 'local', ...locationBodyOf(values) });
      await client.invalidateQueries({ queryKey: ['location'] });
      await navigate({ to: '/locations/$id', params: { id: String(id) } });
    },
  });
  return (
    <>
      <PageHead title="Add location" />
      <FormOnPage page={page} saveLabel="Add location" isNew>
        <LocationFields form={page.form} />
      </FormOnPage>
    </>
  );
}
