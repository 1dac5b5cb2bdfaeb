import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { post } from '#console/api/call.ts';
import { withConfigurationErrors } from '#console/components/configuration-errors.ts';
import { FormPageView } from '#console/components/form-page.tsx';
import { PageHead } from '#console/components/page-head.tsx';
import { useFormPage } from '#console/components/use-form-page.ts';
import { LocationFields } from './location-fields.tsx';
import { emptyLocation, type LocationValues, locationBodyOf, mainFieldOf } from './location-values.ts';

export function NewLocationPage() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const page = useFormPage<LocationValues>({
    draft: 'location new',
    initial: emptyLocation,
    save: async (values) => {
      const adding = post('location/add', { kind: values.kind, ...locationBodyOf(values) });
      const { id } = await withConfigurationErrors(values, adding, mainFieldOf(values));
      await client.invalidateQueries({ queryKey: ['location'] });
      await navigate({ to: '/locations/$id', params: { id: String(id) } });
    },
  });
  return (
    <>
      <PageHead title="Add location" />
      <FormPageView page={page} saveLabel="Add location" isNew>
        <LocationFields form={page.form} isNew />
      </FormPageView>
    </>
  );
}
