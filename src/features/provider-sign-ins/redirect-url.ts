import type { RedirectSignIn } from '#ports/sign-in.ts';

/** Returns the address to which providers send browsers back. Each profile has another address, so no provider can answer for another. */
export const redirectUrlOf = (publicUrl: string, protocol: RedirectSignIn['protocol'], profileId: number): string =>
  `${publicUrl}/sign-in/${protocol}/${profileId}`;
