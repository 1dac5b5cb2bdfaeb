import { Secret, TOTP } from 'otpauth';
import type { Totp } from '#ports/totp.ts';

const period = 30; // seconds
const secretBytes = 20; // RFC 4226, 4: the length of a SHA-1 HMAC
const toleratedSteps = 1;
const issuer = 'Postern';

const totpOf = (secret: string, label: string) => new TOTP({ issuer, label, algorithm: 'SHA1', digits: 6, period, secret });

export const totp = (): Totp => ({
  newSecret: () => new Secret({ size: secretBytes }).base32,
  uriOf: (secret, account) => totpOf(secret, account).toString(),
  stepOf(secret, token, now) {
    const difference = totpOf(secret, '').validate({ token, timestamp: now, window: toleratedSteps });
    return difference === null ? null : Math.floor(now / 1000 / period) + difference;
  },
});
