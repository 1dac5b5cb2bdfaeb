import { useQuery } from '@tanstack/react-query';
import { Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { callerQuery } from '#console/api/session.ts';
import { SetUpPage } from '#console/second-factor/set-up-page.tsx';
import type { CallerRecord } from '#core/records/operator.ts';
import { CallerProvider } from './caller.ts';
import { LoadError } from './load-error.tsx';
import { Shell } from './shell.tsx';
import { SignInDialog } from './sign-in-dialog.tsx';
import { SignInPage } from './sign-in-page.tsx';

/** Shows the console, or the page that comes first, such as sign-in. When the session ends, a sign-in dialog over it keeps its input. */
export function Root() {
  const { pathname } = useLocation();
  const { data: current, error, refetch } = useQuery(callerQuery);
  const [lastCaller, setLast] = useState<CallerRecord | null>(null);
  useEffect(() => {
    if (current) setLast(current);
  }, [current]);
  if (pathname.endsWith('/first')) return <Outlet />;
  if (error) return <LoadError error={error} reset={() => void refetch()} />;
  if (current === undefined) return null;
  const caller = current ?? lastCaller;
  if (!caller) return <SignInPage />;
  if (current?.lacksSecondFactor) return <SetUpPage />;
  return (
    <CallerProvider value={caller}>
      <Shell />
      {current === null && <SignInDialog caller={caller} />}
    </CallerProvider>
  );
}
