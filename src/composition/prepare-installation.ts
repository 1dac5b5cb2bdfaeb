import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inviteFirstOperator } from '#features/first-start/first-operator.ts';
import {
  checkSecretKey,
  isNewDatabase,
  isUnfinishedCopy,
  isValidKey,
  newApiKey,
  prepareDatabase,
} from '#features/first-start/first-start.ts';
import { packStoredRanges } from '#features/login-profiles/pack-stored-ranges.ts';
import { reportAlive } from '#features/processes/running-processes.ts';
import type { Ports } from '#ports/ports.ts';
import { StoreFull } from '#ports/store.ts';
import type { DataFolder } from '../data-folder.ts';
import type { Settings } from '../settings/settings.ts';

/** Runs a startup step that writes. Returns null if the disk is full: the start continues, so that files can be downloaded. */
export async function skipIfFull<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof StoreFull) return null;
    throw cause;
  }
}

/** What a start found or created in its database. */
interface PreparedInstallation {
  /** Id of the database. */
  readonly databaseId: string;
  /**
   * The admin key that this start created, if it is the first start and POSTERN_API_KEY is not set; otherwise null. If several processes
   * start at the same time, the database accepts the key of only one.
   */
  readonly firstKey: string | null;
  /** The secret in the address at which the first operator is created; null if tenant 1 has an admin, or if the disk is full. */
  readonly invitation: string | null;
}

/** Prepares the database and the data folder for this version. The first start creates tenant 1 with a profile, a location and a key. */
export async function prepareInstallation(
  ports: Ports,
  { apiKey, databaseUrl }: Settings,
  data: DataFolder,
): Promise<PreparedInstallation> {
  const { store } = ports;
  const isFirstStart = await isNewDatabase(ports);
  // Checked before anything is written: after a refusal, move-store must find an empty database.
  if (isFirstStart && databaseUrl !== null && !(await isUnfinishedCopy(store))) data.checkMoved();
  await checkSecretKey(ports);
  const databaseId = await store.databaseId();
  if (isFirstStart && !existsSync(join(data.files, 'welcome.txt'))) data.createWelcomeFile();
  const firstKey = isFirstStart && apiKey === null ? newApiKey(ports) : null;
  if (firstKey !== null) data.stageFirstKey(firstKey);
  const prepareStore = () => prepareDatabase(ports, { apiKey, firstKey, files: data.files });
  await (isFirstStart ? prepareStore() : skipIfFull(prepareStore));
  await skipIfFull(() => packStoredRanges(store));
  await data.publishFirstKey((key) => isValidKey(ports, key));
  const invitation = await skipIfFull(() => inviteFirstOperator(ports));
  await skipIfFull(() => reportAlive(ports));
  return { databaseId, firstKey, invitation };
}
