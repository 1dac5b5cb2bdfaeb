import type { CommandName, CommandParameters, DiskCommands } from './disk-commands.ts';
import { type ErrorMessage, errorMessage } from './disk-errors.ts';

/** Sent to a thread: a command with its parameters. */
export interface DiskRequest<K extends CommandName = CommandName> {
  readonly command: K;
  readonly parameters: CommandParameters<K>;
}

/** Sent by a thread, in the order of the requests. */
export type DiskResponse<T = unknown> = { readonly value: T } | { readonly error: ErrorMessage };

export function runRequest(commands: DiskCommands, { command, parameters }: DiskRequest): DiskResponse {
  try {
    return { value: Reflect.apply(commands[command], commands, parameters) };
  } catch (cause) {
    return { error: errorMessage(cause) };
  }
}
