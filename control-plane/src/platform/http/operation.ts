import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Tx } from '../db/database.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Together } from './mutation.ts';

type JsonOf<R> = R extends { content: { 'application/json': infer B } }
  ? B
  : R extends { content: infer C }
    ? C[keyof C]
    : undefined;

/** What a handler may answer: exactly the statuses and bodies the contract declares. */
export type Reply<O> = O extends { responses: infer R }
  ? {
      [S in keyof R & number]: {
        status: S;
        body: JsonOf<R[S]>;
        location?: string;
        /** For answers that are not JSON. */
        mediaType?: string;
        /** What a replay with the same idempotency key gets instead, when the body holds a secret. */
        replayBody?: JsonOf<R[S]>;
      };
    }[keyof R & number]
  : never;

type PathOf<O> = O extends { parameters: { path: infer P } } ? P : Record<string, never>;
type QueryOf<O> = O extends { parameters: { query?: infer Q } } ? NonNullable<Q> : Record<string, never>;
type BodyOf<O> = O extends { requestBody: { content: { 'application/json': infer B } } } ? B : undefined;

/** A reply when its operation is not known by type. */
export interface AnyReply {
  status: number;
  body: unknown;
  location?: string;
  mediaType?: string;
  replayBody?: unknown;
}

/** The handler wrote the answer itself (a stream). */
export const HIJACKED = Symbol('hijacked');

export interface AuditTarget {
  targetType: string;
  targetId: string;
  organizationId?: string | null;
  /** A summary of what changed, as it was and as it is. */
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
  /** Aborts when the server stops; whoever waits for something must answer then. */
  stopping: AbortSignal;
  log: Logger;
  request: FastifyRequest;
  reply: FastifyReply;
  /** Names what a mutation acted on; operations with `x-audit` must call it before they can fail on it. */
  audit(target: AuditTarget): void;
  /** Reads in one transaction that sees what the caller's scope sees. */
  read<T>(look: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Runs the decision in one transaction, together with its idempotency row and audit row.
   * A thrown problem rolls all of it back and leaves a `refused` or `denied` audit row.
   */
  mutate(decide: (tx: Tx) => Promise<Reply<O>>): Promise<Reply<O>>;
  /** The same for what can commit together with the requests of others. */
  mutateTogether(way: Together<Reply<O>>): Promise<Reply<O>>;
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
  /** What the ETag covers, when the body also holds what changes by itself; all of it otherwise. */
  'x-etag-fields'?: string[];
  /** `none` for probes, which must answer under load. */
  'x-rate-limit'?: 'none';
  /** A limit of its own, where the document's does not fit. */
  'x-max-body-bytes'?: number;
  /** The handler gets the body as it came, too. */
  'x-raw-body'?: boolean;
  parameters?: { name?: string; in?: string; $ref?: string }[];
  requestBody?: object;
  responses: Record<string, { headers?: Record<string, object> }>;
}

export interface ContractDocument {
  info: { version: string };
  /** The largest body any operation takes that declares no limit of its own. */
  'x-max-body-bytes': number;
  paths: Record<string, Record<string, OperationObject>>;
}
