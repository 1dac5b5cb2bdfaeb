import type * as Library from 'ldapts';
import { DirectoryRefused, DirectoryUnavailable, type TenantDirectory } from '#ports/directory.ts';
import { type ConnectionParts, connectDirectory, type DirectoryConnection } from './directory-connection.ts';

/** Result codes by which a directory says that it cannot answer now: busy, unavailable (RFC 4511, 4.1.9). */
const temporaryCodes: readonly number[] = [51, 52];

export interface BindCredentials {
  readonly name: string;
  readonly password: string;
}

/**
 * Runs operations on a connection, and closes it when `signal` aborts.
 * @throws DirectoryRefused for an operation that the directory refuses; DirectoryUnavailable
 */
export async function runOnConnection<T>(
  library: typeof Library,
  connection: DirectoryConnection,
  signal: AbortSignal,
  use: (client: Library.Client) => Promise<T>,
): Promise<T> {
  signal.addEventListener('abort', connection.close, { once: true });
  try {
    signal.throwIfAborted();
    return await use(connection.client);
  } catch (cause) {
    if (cause instanceof DirectoryRefused || cause instanceof DirectoryUnavailable) throw cause;
    if (cause instanceof library.ResultCodeError && !temporaryCodes.includes(cause.code))
      throw new DirectoryRefused(`The directory refused a request: ${cause.name} (code ${cause.code}).`, { cause });
    throw connection.refusedData() ?? new DirectoryUnavailable('The directory did not respond as expected, or not in time.', { cause });
  } finally {
    signal.removeEventListener('abort', connection.close);
  }
}

/**
 * Opens a connection and signs in at the directory.
 * @returns null if the directory refuses the sign-in, for any reason that is not temporary
 * @throws DirectoryUnavailable
 */
export async function openBoundConnection(
  parts: ConnectionParts,
  directory: TenantDirectory,
  { name, password }: BindCredentials,
  signal: AbortSignal,
): Promise<DirectoryConnection | null> {
  const connection = await connectDirectory(parts, directory, signal);
  try {
    await runOnConnection(parts.library, connection, signal, (client) => client.bind(name, password));
    return connection;
  } catch (cause) {
    connection.close();
    if (cause instanceof DirectoryRefused) return null;
    throw cause;
  }
}
