import { useQuery } from '@tanstack/react-query';
import { Outlet, useLocation } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { whoQuery } from '#console/api/session.ts';
import type { CallerRecord } from '#core/records/operator.ts';
import { LoadFailed } from './load-failed.tsx';
import { Shell } from './shell.tsx';
import { SignInDialog } from './sign-in-dialog.tsx';
import { SignInPage } from './sign-in-page.tsx';
import { WhoProvider } from './who.ts';

/** Lets in who has signed in; a session that ends in the middle asks again, and what was being done stays. */
export function Root() {
  const { pathname } = useLocation();
  const { data: who, error, refetch } = useQuery(whoQuery);
  const [last, setLast] = useState<CallerRecord | null>(null);
  useEffect(() => {
    if (who) setLast(who);
  }, [who]);
  if (pathname.endsWith('/first')) return <Outlet />;
  if (error) return <LoadFailed error={error} reset={() => void refetch()} />;
  if (who === undefined) return null;
  const known = who ?? last;
  if (!known) return <SignInPage />;
  return (
    <WhoProvider value={known}>
      <Shell />
      {who === null && <SignInDialog who={known} />}
    </WhoProvider>
  );
}
