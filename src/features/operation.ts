import type { Static, TObject, TSchema } from 'typebox';
import type { Role } from '#core/authorization/role.ts';
import type { MessageName } from '#core/messages.ts';
import type { Ports, SyncPorts } from '#ports/ports.ts';
import type { Tx } from '#ports/store.ts';

/** The caller of a management operation. */
export interface Caller {
  readonly tid: number;
  /** Name of the key or operator. It becomes `createdOwner`, `updatedOwner` and the actor of the audit entry. */
  readonly name: string;
  readonly role: Role;
  readonly kind: 'key' | 'operator';
  /** true: an operator who has signed in at the provider. */
  readonly byProvider: boolean;
  /** true: an operator who must add a second factor before anything else. */
  readonly lacksSecondFactor: boolean;
  /** Id of the key or operator. */
  readonly id: number;
  /** Hash of the key, token or session of the call. A change checks in its transaction that this credential is still valid. */
  readonly credentialHash: string;
  readonly address: string;
  readonly requestId: string;
}

/** Returns a text that no other key or operator has. */
export const callerKey = ({ kind, id }: Pick<Caller, 'kind' | 'id'>): string => `${kind} ${id}`;

/** The part of an audit entry that a change fills in. `before` and `after` contain no secrets. */
export interface ChangeAudit {
  readonly before?: object | null;
  readonly after?: object | null;
  readonly share?: { readonly id: number; readonly title: string; readonly viewId: string };
}

export interface ChangeResult {
  /** Fields of the response in addition to the envelope, such as the id of a new record. A dry run leaves them out. */
  readonly created?: Readonly<Record<string, unknown>>;
  /** Replaces the message of the operation. */
  readonly message?: MessageName;
  readonly detail?: string;
  readonly audit: ChangeAudit;
}

/** The tables whose rows have a version for If-Match. */
export type VersionedTable = 'share' | 'access_user' | 'login_profile' | 'location' | 'api_key' | 'operator';

/**
 * The record that an operation changes. If the record is not in the caller's tenant, the response is 404, and neither `check` nor `change`
 * runs.
 */
export interface Target<Body> {
  readonly table: VersionedTable;
  /** For a body that names the record by another field than `id`: returns the record's id, or undefined if there is no such record. */
  find?(body: Body, caller: Caller, tx: Tx): Promise<number | undefined>;
}

interface OperationBase<B extends TSchema, Name extends string> {
  /** The path below /api/v1, such as `share/add`. For a change, it is also the action of the audit entry. */
  readonly name: Name;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly role: Role;
  /** true: an operator who lacks a required second factor may call it. */
  readonly withoutSecondFactor?: true;
  /** A short description for the documentation. */
  readonly summary: string;
  readonly body: B;
  /** Maximum number of field errors when the body does not match its schema, for a body that is a list of records. Default: 20. */
  readonly maxSchemaErrors?: number;
  /** Maximum size of the body. Default: `maxBodyBytes` of http/body-limits.ts. */
  readonly maxBodyBytes?: number;
  /** Body fields that Postern computes. They are accepted and ignored, so that a client can send a fetched record back unchanged. */
  readonly computed?: readonly string[];
}

/** An operation that changes records. `check` runs first, then `change`. */
export interface ChangeOperation<B extends TSchema, Checked, Name extends string = string, Fields extends TSchema = TSchema>
  extends OperationBase<B, Name> {
  readonly message: MessageName;
  readonly target?: Target<Static<B>>;
  /** Schema of the response fields in addition to the envelope. */
  readonly responseFields?: Fields;
  /** true: `check` reads records of all tenants, and takes turns with other such checks of its tenant. */
  readonly readsAllTenants?: true;
  /** Changes no records, but a wrong password of an operator counts as a failed attempt. May wait for disks and other services. */
  check?(body: Static<B>, caller: Caller, ports: Ports): Promise<Checked>;
  /** Awaits nothing but `tx`. Repeats the database reads of `check` within `tx`, since the rows may have changed. */
  change(body: Static<B>, caller: Caller, tx: Tx, ports: SyncPorts, checked: Checked): Promise<ChangeResult>;
}

/** An operation that returns records. */
export interface ReadOperation<B extends TSchema, Name extends string = string, Response extends TSchema = TSchema>
  extends OperationBase<B, Name> {
  /** true: the operation reads many records, and takes turns with other searches. */
  readonly isSearch?: true;
  /** true: the operation may read many audit entries. Its long queries run through `inTurn`, so that other reports run in between. */
  readonly isReport?: true;
  /** true: the operation tests a disk or another server, which may hang. It takes turns with other tests. */
  readonly isTest?: true;
  /** true: the body contains a file, which the operation examines for some seconds. It takes turns with other such operations. */
  readonly examinesFile?: true;
  /** Returns the name of the location that the operation reads. Operations that read the same location take turns. */
  readonly locationName?: (body: Static<B>) => string;
  readonly response: Response;
  /**
   * @param inTurn runs one query of a report when the caller's turn comes; rejects if the client disconnects, or if too many requests wait
   * @param timedOut only for an operation with `locationName`: aborts when the location has not responded in time
   */
  read(body: Static<B>, caller: Caller, ports: Ports, inTurn: RunInTurn, timedOut?: AbortSignal): Promise<object>;
}

/** A response that is too long for memory. */
export interface StreamedResponse {
  readonly contentType: string;
  readonly fileName: string;
  readonly body: AsyncIterable<string>;
}

export interface StreamOperation<B extends TSchema, Name extends string = string> extends OperationBase<B, Name> {
  /** @param turns those of the caller, which reject if the client disconnects, or if too many requests wait */
  stream(body: Static<B>, caller: Caller, ports: Ports, turns: CallerTurns): Promise<StreamedResponse>;
}

/**
 * Runs one query, or a complete read operation, when the caller's turn comes. If the turn has a time limit, the signal aborts after it.
 */
export type RunInTurn = <T>(work: (timedOut?: AbortSignal) => Promise<T>) => Promise<T>;

export interface CallerTurns {
  readonly inTurn: RunInTurn;
  /** Runs a complete read operation, whose queries may wait for turns of their own. */
  readonly readInTurn: RunInTurn;
  /** Writes a long text when the caller's turn comes. */
  readonly writeInTurn: <T>(write: () => T) => Promise<T>;
}

/**
 * An operation as the HTTP layer sees it. The layer passes a body that it has validated against the operation's schema. The functions
 * above, except `locationName`, are methods: TypeScript compares method parameters bivariantly, so one list can hold all operations.
 */
export type AnyChange = ChangeOperation<TSchema, unknown>;
export type AnyRead = ReadOperation<TSchema>;
export type AnyStream = StreamOperation<TSchema>;
export type Operation = AnyChange | AnyRead | AnyStream;

export const isChange = (operation: Operation): operation is AnyChange => 'change' in operation;

type NoFields = TObject<Record<never, TSchema>>;

/** Declares an operation that changes records. The schema gives the body its type. */
export const changeOperation = <B extends TSchema, Name extends string, Checked = undefined, Fields extends TSchema = NoFields>(
  operation: ChangeOperation<B, Checked, Name, Fields>,
): ChangeOperation<B, Checked, Name, Fields> => operation;

/** Declares an operation that streams its response. The schema gives the body its type. */
export const streamOperation = <B extends TSchema, Name extends string>(operation: StreamOperation<B, Name>): StreamOperation<B, Name> =>
  operation;

/** Declares an operation that returns records. The schema gives the body its type. */
export const readOperation = <B extends TSchema, Name extends string, Response extends TSchema>(
  operation: ReadOperation<B, Name, Response>,
): ReadOperation<B, Name, Response> => operation;
