/** Why MAAS did not do what it was asked. */
export type MaasTrouble =
  /** It could not be asked, or it could not do it at the moment: worth another try. */
  | 'unavailable'
  /** The API key is not accepted. */
  | 'unauthorized'
  /** The user of the API key may not do that. */
  | 'forbidden'
  | 'not_found'
  /** The machine is in a state that does not allow it, or somebody else has it. */
  | 'conflict'
  /** It understood something else than we meant. */
  | 'invalid';

export class MaasError extends Error {
  override readonly name = 'MaasError';
  readonly trouble: MaasTrouble;

  constructor(trouble: MaasTrouble, message: string, options?: ErrorOptions) {
    super(message, options);
    this.trouble = trouble;
  }
}

const LONGEST = 300;

/** MAAS answers with a sentence, or with the complaints about each field of the form. */
export function refusalOf(status: number, body: string): MaasError {
  return new MaasError(troubleOf(status), `MAAS answered ${status}: ${inWords(body).slice(0, LONGEST)}`);
}

function troubleOf(status: number): MaasTrouble {
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
    const fields = JSON.parse(body) as Record<string, unknown>;
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
