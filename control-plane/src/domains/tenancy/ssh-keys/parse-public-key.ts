import { createHash, createPublicKey } from 'node:crypto';

export interface PublicKey {
  type: string;
  /** Type and key, without options or comment. */
  line: string;
  fingerprint: string;
}

/** Why a text is not an acceptable public key. */
export class InvalidPublicKeyError extends Error {}

const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 8192;

type Check = (fields: Fields) => void;

/** Accepted key types, with the content that follows the type's name in each. */
const TYPES: Record<string, Check> = {
  'ssh-ed25519': (fields) => fields.bytes(32),
  'sk-ssh-ed25519@openssh.com': (fields) => {
    fields.bytes(32);
    fields.next();
  },
  'ecdsa-sha2-nistp256': ecdsa('nistp256', 'P-256', 32),
  'ecdsa-sha2-nistp384': ecdsa('nistp384', 'P-384', 48),
  'ecdsa-sha2-nistp521': ecdsa('nistp521', 'P-521', 66),
  'sk-ecdsa-sha2-nistp256@openssh.com': (fields) => {
    ecdsa('nistp256', 'P-256', 32)(fields);
    fields.next();
  },
  'ssh-rsa': rsa,
};

/** One line of `type base64 comment`. Options, several lines, unknown types and malformed keys are refused. */
export function parsePublicKey(text: string): PublicKey {
  const line = text.trim();
  if (!/^[\x20-\x7e\u00a0-\uffff]*$/.test(line)) throw new InvalidPublicKeyError('must be one line of text');
  if (line.includes('PRIVATE KEY')) throw new InvalidPublicKeyError('is a private key; keep it to yourself');
  const [type = '', base64 = ''] = line.split(' ');
  const check = Object.hasOwn(TYPES, type) ? TYPES[type] : undefined;
  if (!check) {
    throw new InvalidPublicKeyError(
      `must begin with one of ${Object.keys(TYPES).join(', ')}, without options`,
    );
  }
  const blob = Buffer.from(base64, 'base64');
  if (blob.length === 0 || blob.toString('base64') !== base64) {
    throw new InvalidPublicKeyError('does not hold a key in base64');
  }
  const fields = new Fields(blob);
  if (fields.next().toString('latin1') !== type) throw new InvalidPublicKeyError('names another type inside');
  check(fields);
  fields.end();
  const digest = createHash('sha256').update(blob).digest('base64').replaceAll('=', '');
  return { type, line: `${type} ${base64}`, fingerprint: `SHA256:${digest}` };
}

/** The length-prefixed fields of RFC 4251. */
class Fields {
  #rest: Buffer;

  constructor(blob: Buffer) {
    this.#rest = blob;
  }

  next(): Buffer {
    const length = this.#rest.length >= 4 ? this.#rest.readUInt32BE(0) : Infinity;
    if (length > this.#rest.length - 4) throw new InvalidPublicKeyError('is cut off');
    const field = this.#rest.subarray(4, 4 + length);
    this.#rest = this.#rest.subarray(4 + length);
    return field;
  }

  bytes(length: number): void {
    if (this.next().length !== length) throw new InvalidPublicKeyError('has a key of the wrong size');
  }

  end(): void {
    if (this.#rest.length > 0) throw new InvalidPublicKeyError('has something after the key');
  }
}

function ecdsa(curve: string, crv: string, size: number): Check {
  return (fields) => {
    if (fields.next().toString('latin1') !== curve)
      throw new InvalidPublicKeyError('names another curve inside');
    const point = fields.next();
    if (point.length !== 1 + 2 * size || point[0] !== 4) {
      throw new InvalidPublicKeyError('has a key of the wrong size');
    }
    const [x, y] = [point.subarray(1, 1 + size), point.subarray(1 + size)];
    try {
      const key = { kty: 'EC', crv, x: x.toString('base64url'), y: y.toString('base64url') };
      createPublicKey({ key, format: 'jwk' });
    } catch {
      throw new InvalidPublicKeyError('is not a point of its curve');
    }
  };
}

function rsa(fields: Fields): void {
  const [exponent, modulus] = [positive(fields.next()), positive(fields.next())];
  const bits = modulus.length === 0 ? 0 : modulus.length * 8 - Math.clz32(modulus.readUInt8(0)) + 24;
  if (bits < MIN_RSA_BITS || bits > MAX_RSA_BITS) {
    throw new InvalidPublicKeyError(`must have ${MIN_RSA_BITS} to ${MAX_RSA_BITS} bits, not ${bits}`);
  }
  const isOdd = (number: Buffer): boolean => (number.at(-1) ?? 0) % 2 === 1;
  const tooSmall = exponent.length === 0 || (exponent.length === 1 && exponent.readUInt8(0) < 3);
  if (!isOdd(modulus) || !isOdd(exponent) || tooSmall) throw new InvalidPublicKeyError('is no RSA key');
}

/** A number without its sign byte; numbers must have their shortest form. */
function positive(field: Buffer): Buffer {
  if (field.length === 0 || field.readUInt8(0) >= 0x80) throw new InvalidPublicKeyError('is no RSA key');
  if (field[0] !== 0) return field;
  if (field.length === 1 || field.readUInt8(1) < 0x80) throw new InvalidPublicKeyError('is no RSA key');
  return field.subarray(1);
}
