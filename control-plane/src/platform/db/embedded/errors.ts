/** Why the embedded Postgres could not be started or stopped. */
export type EmbeddedPostgresErrorCode =
  | 'unsupported_platform'
  | 'no_service_user'
  | 'in_use'
  | 'cancelled'
  | 'disk_full'
  | 'not_accessible'
  | 'not_a_cluster'
  | 'password_missing'
  | 'other_major_version'
  | 'initdb_failed'
  | 'start_failed'
  | 'died'
  | 'stop_failed';

/** A failure of embedded Postgres whose message contains the operator's next step. */
export class EmbeddedPostgresError extends Error {
  override readonly name = 'EmbeddedPostgresError';
  readonly code: EmbeddedPostgresErrorCode;

  constructor(code: EmbeddedPostgresErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The `code` of a Node system error or a Postgres error, if there is one. */
export function errorCode(error: unknown): string | undefined {
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return undefined;
}

/** The start was called off before the server was ready. */
export function startCancelled(): EmbeddedPostgresError {
  return new EmbeddedPostgresError('cancelled', 'The start of Postgres was called off.');
}
