import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Tx } from '../db/database.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { BatchableMutation } from './mutation.ts';

type JsonOf<R> = R extends { content: { 'application/json': infer B } }
  ? B
  : R extends { content: infer C }
    ? C[keyof C]
    : undefined;

/** Possible replies of a handler: exactly the statuses and bodies that the contract declares. */
export type Reply<O> = O extends { responses: infer R }
  ? {
      [S in keyof R & number]: {
        status: S;
        body: JsonOf<R[S]>;
        location?: string;
        /** For replies that are not JSON. */
        mediaType?: string;
        /** Body of a replay with the same idempotency key, if the body holds a secret. */
        replayBody?: JsonOf<R[S]>;
        /** Nothing was changed, so there is nothing to audit. */
        unchanged?: boolean;
      };
    }[keyof R & number]
  : never;

type PathOf<O> = O extends { parameters: { path: infer P } } ? P : Record<string, never>;
type QueryOf<O> = O extends { parameters: { query?: infer Q } }
  ? WithPageSize<NonNullable<Q>>
  : Record<string, never>;
/** Validation fills in the page size that the contract gives as default. */
type WithPageSize<Q> = 'limit' extends keyof Q ? Omit<Q, 'limit'> & { limit: number } : Q;
type BodyOf<O> = O extends { requestBody: { content: { 'application/json': infer B } } } ? B : undefined;

/** A reply whose operation is not known by type. */
export interface AnyReply {
  status: number;
  body: unknown;
  location?: string;
  mediaType?: string;
  replayBody?: unknown;
  unchanged?: boolean;
}

/** The handler wrote the response itself (a stream). */
export const HIJACKED = Symbol('hijacked');

export interface AuditTarget {
  targetType: string;
  targetId: string;
  organizationId?: string | null;
  /** A summary of the change: before and after. */
  before?: Record<string, unknown> | null;
  after?: Record<string, unknown> | null;
  detail?: Record<string, unknown>;
}

export interface Context<O, Caller> {
  caller: Caller;
  params: PathOf<O>;
  query: QueryOf<O>;
  body: BodyOf<O>;
  correlationId: string;
  /** Aborts when the server stops; a handler that waits must then answer. */
  stopping: AbortSignal;
  log: Logger;
  request: FastifyRequest;
  reply: FastifyReply;
  /** Names the target of a mutation; operations with `x-audit` must call it before they can fail on it. */
  audit(target: AuditTarget): void;
  /** Reads in one transaction, in the caller's scope. */
  read<T>(look: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Runs the decision in one transaction, together with its idempotency row and audit row.
   * A thrown problem rolls all of it back and leaves a `refused` or `denied` audit row.
   */
  mutate(decide: (tx: Tx) => Promise<Reply<O>>): Promise<Reply<O>>;
  /** Runs a mutation that can commit together with those of other requests. */
  mutateInBatch(way: BatchableMutation<Reply<O>>): Promise<Reply<O>>;
}

export type Handler<O, Caller> = (context: Context<O, Caller>) => Promise<Reply<O> | typeof HIJACKED>;

export type Handlers<Operations, Caller> = {
  [K in keyof Operations]: Handler<Operations[K], Caller>;
};

/** The parts of an OpenAPI operation the server reads. */
export interface OperationObject {
  operationId: string;
  security?: Record<string, string[]>[];
  'x-permission'?: string;
  'x-audit'?: string;
  /** Members that the ETag covers, if others change without an edit; all of the body otherwise. */
  'x-etag-fields'?: string[];
  /** `none` for probes, which must answer under load. */
  'x-rate-limit'?: 'none';
  /** The policy that limits how much the operation creates. */
  'x-limit'?: string;
  /** Largest accepted body. */
  'x-max-body-bytes'?: number;
  /** The body is bytes that the handler reads as a stream, up to this many. */
  'x-max-stream-bytes'?: number;
  /** The handler also gets the raw bytes of the body. */
  'x-raw-body'?: boolean;
  parameters?: { name?: string; in?: string; $ref?: string }[];
  requestBody?: object;
  responses: Record<string, { headers?: Record<string, object> }>;
}

export interface ContractDocument {
  info: { version: string };
  /** Largest body of operations that declare no limit. */
  'x-max-body-bytes': number;
  paths: Record<string, Record<string, OperationObject>>;
}
