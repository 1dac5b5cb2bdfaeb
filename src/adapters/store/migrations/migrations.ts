import { first } from './0001-first.ts';
import { consoleAccounts } from './0002-console.ts';
import { lists } from './0003-lists.ts';
import { portal } from './0004-portal.ts';
import { longLists } from './0005-long-lists.ts';
import { policies } from './0006-policies.ts';
import { answersUnderWay } from './0007-answers-under-way.ts';
import { alertLists } from './0008-alert-lists.ts';
import { countsByStatement } from './0009-counts-by-statement.ts';
import { packedRanges } from './0010-packed-ranges.ts';
import { endedCounts } from './0011-ended-counts.ts';
import { jobs } from './0012-jobs.ts';
import type { Migration } from './migration.ts';

/** All migrations, in the order of their application. */
export const migrations: readonly Migration[] = [
  first,
  consoleAccounts,
  lists,
  portal,
  longLists,
  policies,
  answersUnderWay,
  alertLists,
  countsByStatement,
  packedRanges,
  endedCounts,
  jobs,
];
