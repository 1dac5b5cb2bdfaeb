import { useQueryClient } from '@tanstack/react-query';
import { callerQuery } from '#console/api/session.ts';
import { CardPage } from '#console/shell/card-page.tsx';
import { AddAppForm } from './add-app-form.tsx';

/** The page of an operator who must add a second factor before anything else. */
export function SetUpPage() {
  const client = useQueryClient();
  return (
    <CardPage title="Set up a second factor" lead="Your organization requires it for everyone who signs in here.">
      <AddAppForm onAdded={() => void client.invalidateQueries({ queryKey: callerQuery.queryKey })} />
    </CardPage>
  );
}
