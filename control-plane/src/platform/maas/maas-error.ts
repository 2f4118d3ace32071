/** Kinds of MAAS errors. */
export type MaasErrorKind =
  /** MAAS was unreachable or temporarily unable: worth a retry. */
  | 'unavailable'
  /** The API key is not accepted. */
  | 'unauthorized'
  /** The user of the API key lacks the permission. */
  | 'forbidden'
  | 'not_found'
  /** The machine's state does not allow it, or another user has it. */
  | 'conflict'
  /** MAAS rejected the request as malformed. */
  | 'invalid';

export class MaasError extends Error {
  override readonly name = 'MaasError';
  readonly trouble: MaasErrorKind;

  constructor(trouble: MaasErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.trouble = trouble;
  }
}

const LONGEST = 300;

/** MAAS answers with a sentence, or with the complaints about each field of the form. */
export function parseMaasError(status: number, body: string): MaasError {
  return new MaasError(troubleOf(status), `MAAS answered ${status}: ${inWords(body).slice(0, LONGEST)}`);
}

function troubleOf(status: number): MaasErrorKind {
  switch (status) {
    case 401:
      return 'unauthorized';
    case 403:
      return 'forbidden';
    case 404:
      return 'not_found';
    case 409:
      return 'conflict';
    case 408:
    case 429:
      return 'unavailable';
    default:
      return status >= 500 ? 'unavailable' : 'invalid';
  }
}

function inWords(body: string): string {
  try {
    const fields: unknown = JSON.parse(body);
    if (typeof fields === 'object' && fields !== null) {
      return Object.entries(fields)
        .map(([field, complaints]) => `${field}: ${[complaints].flat().join(' ')}`)
        .join('; ');
    }
  } catch {
    // Text, as most refusals are.
  }
  return body.trim() || 'nothing';
}
