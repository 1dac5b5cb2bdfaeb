import type { Static, TSchema } from 'typebox';
import type { MessageName } from '#core/messages.ts';
import type { Role } from '#core/policy/role.ts';
import type { InstantPorts, Ports } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';

/** Who calls a management operation. */
export interface Caller {
  readonly tid: number;
  /** Name of the key or operator: `createdOwner`, `updatedOwner`, the audit row's actor. */
  readonly name: string;
  readonly role: Role;
  readonly kind: 'key' | 'operator';
  /** Of the key or operator. */
  readonly id: number;
  /** Hash of the key, token or session that the call carries: by it a change asks once more whether it still holds. */
  readonly proof: string;
  readonly address: string;
  readonly requestId: string;
}

/** What the audit row of a change tells; before and after without secrets. */
export interface ChangeAudit {
  readonly before?: object | null;
  readonly after?: object | null;
  readonly share?: { readonly id: number; readonly title: string; readonly viewId: string };
}

/** What a change came to. */
export interface ChangeResult {
  /** Fields that the answer carries beside the envelope; `fresh` ones are left out of a dry run. */
  readonly created?: Readonly<Record<string, unknown>>;
  /** Where it says something other than the operation's own message. */
  readonly message?: MessageName;
  readonly detail?: string;
  readonly audit: ChangeAudit;
}

/** Tables whose rows have a version that If-Match can name. */
export type VersionedTable = 'share' | 'access_user' | 'login_profile' | 'location' | 'api_key' | 'operator';

/** Which record an operation is about; where it is not the caller's, the answer is 404 before anything else. */
export interface Target<Body> {
  readonly table: VersionedTable;
  /** The record's id where the body names it in another way; undefined: there is none. */
  find?(body: Body, caller: Caller, tx: Tx): Promise<number | undefined>;
}

interface OperationBase<B extends TSchema> {
  /** `share/add`: the path below /api/v1, and the action of its audit row. */
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly role: Role;
  /** What it does, for the documentation. */
  readonly summary: string;
  readonly body: B;
  /** Most field errors that one answer names, where the body is a list of records; else twenty. */
  readonly mostFieldErrors?: number;
  /** Body fields that Postern computes: taken and ignored, so that a fetched record can be sent back whole. */
  readonly computed?: readonly string[];
}

/** An operation that changes records: check, then change. */
export interface ChangeOperation<B extends TSchema, Seen> extends OperationBase<B> {
  readonly message: MessageName;
  readonly target?: Target<Static<B>>;
  /** Fields that the answer carries beside the envelope. */
  readonly responseFields?: TSchema;
  /** true: its check reads records of all tenants, and takes turns with other such checks of its tenant. */
  readonly readsAllTenants?: true;
  /** May wait for the outside world; reads only. */
  check?(body: Static<B>, caller: Caller, ports: Ports): Promise<Seen>;
  /** Awaits nothing but `tx`, and asks again what check saw of the database. */
  change(body: Static<B>, caller: Caller, tx: Tx, ports: InstantPorts, seen: Seen): Promise<ChangeResult>;
}

/** An operation that answers records. */
export interface ReadOperation<B extends TSchema> extends OperationBase<B> {
  /** true: it reads many records, and takes turns with other searches. */
  readonly isSearch?: true;
  /** true: it reads a whole history, and takes turns with other reports. */
  readonly isReport?: true;
  /** The name of the location that it reads, with others that read it in turn. */
  readonly locationName?: (body: Static<B>) => string;
  readonly response: TSchema;
  read(body: Static<B>, caller: Caller, ports: Ports): Promise<object>;
}

/** An answer too long for memory. */
export interface StreamedResponse {
  readonly contentType: string;
  readonly fileName: string;
  readonly body: AsyncIterable<string>;
}

/** An operation whose answer is streamed. */
export interface StreamOperation<B extends TSchema> extends OperationBase<B> {
  /** @param inTurn runs one query when the caller's turn comes; rejects when the client has left */
  stream(body: Static<B>, caller: Caller, ports: Ports, inTurn: InTurn): Promise<StreamedResponse>;
}

/** Runs one query when the caller's turn comes. */
export type InTurn = <T>(query: () => Promise<T>) => Promise<T>;

/**
 * An operation as the edge sees it: it hands on what the operation's own schema has checked. (The functions above are
 * methods, whose parameters TypeScript compares both ways; that is what lets one list hold them all.)
 */
export type AnyChange = ChangeOperation<TSchema, unknown>;
export type AnyRead = ReadOperation<TSchema>;
export type AnyStream = StreamOperation<TSchema>;
export type Operation = AnyChange | AnyRead | AnyStream;

export const isChange = (operation: Operation): operation is AnyChange => 'change' in operation;

/** Declares a change; the body is typed by its schema. */
export const change = <B extends TSchema, Seen = undefined>(declared: ChangeOperation<B, Seen>): ChangeOperation<B, Seen> => declared;

/** Declares an export; the body is typed by its schema. */
export const stream = <B extends TSchema>(declared: StreamOperation<B>): StreamOperation<B> => declared;

/** Declares a question; the body is typed by its schema. */
export const read = <B extends TSchema>(declared: ReadOperation<B>): ReadOperation<B> => declared;
