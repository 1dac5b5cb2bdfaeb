import type { Migration } from './migration.ts';

/** Address ranges as they are searched: reading a thousand as they were sent took milliseconds at each request. */
export const packedRanges: Migration = {
  name: '0010-packed-ranges',
  statements: ({ text }) => [
    `ALTER TABLE login_profile ADD COLUMN ip_bounds ${text}`,
    `UPDATE login_profile SET ip_bounds = '' WHERE ip_range = ''`,
  ],
};
