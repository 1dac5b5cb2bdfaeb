import type { Migration } from './migration.ts';

/**
 * Adds a column for the address ranges in the form in which they are searched. pack-stored-ranges.ts fills it for existing profiles.
 * Before, each request parsed the ranges, which took milliseconds for a thousand ranges.
 */
export const packedRanges: Migration = {
  name: '0010-packed-ranges',
  statements: ({ text }) => [
    `ALTER TABLE login_profile ADD COLUMN ip_bounds ${text}`,
    `UPDATE login_profile SET ip_bounds = '' WHERE ip_range = ''`,
  ],
};
