import type { Static, TSchema } from 'typebox';
import type { Envelope } from '#core/records/envelope.ts';
import type { AnyStream } from './operation.ts';
import type { ListedOperation } from './operations.ts';

type Named<Name extends string> = Extract<ListedOperation, { readonly name: Name }>;

/** The name of an operation, which is its path below /api/v1. */
export type OperationName = ListedOperation['name'];

export type RequestOf<Name extends OperationName> = Static<Named<Name>['body']>;

type FieldsOf<Operation> = Operation extends { readonly responseFields?: infer Fields extends TSchema } ? Static<Fields> : unknown;

/**
 * The body of a response with status 200. The response of a change has the common fields (`Envelope`) and its own fields. The response of a
 * dry run has only the common fields. A streamed response is text.
 */
export type ResponseOf<Name extends OperationName> =
  Named<Name> extends { readonly response: infer Response extends TSchema }
    ? Static<Response>
    : Named<Name> extends AnyStream
      ? string
      : Envelope & FieldsOf<Named<Name>>;
