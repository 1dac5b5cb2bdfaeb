import { useQuery } from '@tanstack/react-query';
import { Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { callerQuery } from '#console/api/session.ts';
import type { CallerRecord } from '#core/records/operator.ts';
import { LoadError } from './load-failed.tsx';
import { Shell } from './shell.tsx';
import { SignInDialog } from './sign-in-dialog.tsx';
import { SignInPage } from './sign-in-page.tsx';
import { CallerProvider } from './who.ts';

/** Lets in who has signed in; a session that ends in the middle asks again, and what was being done stays. */
export function Root() {
  const { pathname } = useLocation();
  const { data: who, error, refetch } = useQuery(callerQuery);
  const [lastCaller, setLast] = useState<CallerRecord | null>(null);
  useEffect(() => {
    if (who) setLast(who);
  }, [who]);
  if (pathname.endsWith('/first')) return <Outlet />;
  if (error) return <LoadError error={error} reset={() => void refetch()} />;
  if (who === undefined) return null;
  const caller = who ?? lastCaller;
  if (!caller) return <SignInPage />;
  return (
    <CallerProvider value={caller}>
      <Shell />
      {who === null && <SignInDialog who={caller} />}
    </CallerProvider>
  );
}
