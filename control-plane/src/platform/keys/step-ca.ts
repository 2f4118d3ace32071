import { X509Certificate } from 'node:crypto';
import { request } from 'node:https';
import { compactDecrypt, importJWK, SignJWT, type CryptoKey, type JWK } from 'jose';
import { systemClock } from '../clock.ts';
import { Problem } from '../http/problem.ts';
import { newId } from '../ids.ts';
import {
  parseIssuedCertificate,
  fingerprintOf,
  type CertificateParams,
  type IssuedCertificate,
} from './authority.ts';

export interface StepCaSettings {
  url: URL;
  /** SHA-256 of its root, as `step certificate fingerprint` prints it. */
  rootFingerprint: string;
  /** The name of a JWK provisioner. */
  provisioner: string;
  /** Password of its key. */
  password: string;
}

const DEADLINE_MS = 10_000;
const MAX_ANSWER_BYTES = 1_000_000;
const TOKEN_SECONDS = 300;
/** Most rounds with which step encrypts keys. */
const MAX_ROUNDS = 1_000_000;

interface Provisioner {
  type: string;
  name: string;
  key?: { kid: string };
}

/**
 * A step-ca server that signs certificates of hosts. We hold the key of a JWK provisioner and sign a one-time
 * token for each certificate, so we still choose the names: step-ca takes them from the token if the request
 * names nothing.
 */
export class StepCa {
  readonly rootPem: string;
  readonly #settings: StepCaSettings;
  readonly #keyId: string;
  readonly #key: CryptoKey | Uint8Array;

  private constructor(
    settings: StepCaSettings,
    rootPem: string,
    key: { id: string; value: CryptoKey | Uint8Array },
  ) {
    this.#settings = settings;
    this.rootPem = rootPem;
    this.#keyId = key.id;
    this.#key = key.value;
  }

  static async open(settings: StepCaSettings): Promise<StepCa> {
    const rootPem = await fetchRoot(settings);
    const keyId = await findKeyId(settings, rootPem);
    const path = `/provisioners/${encodeURIComponent(keyId)}/encrypted-key`;
    const { key } = await call<{ key: string }>(settings.url, path, { ca: rootPem });
    const password = new TextEncoder().encode(settings.password);
    const { plaintext } = await compactDecrypt(key, password, {
      keyManagementAlgorithms: ['PBES2-HS256+A128KW'],
      maxPBES2Count: MAX_ROUNDS,
    });
    const jwk: JWK = JSON.parse(new TextDecoder().decode(plaintext));
    return new StepCa(settings, rootPem, { id: keyId, value: await importJWK(jwk, 'ES256') });
  }

  async issue(order: CertificateParams): Promise<IssuedCertificate> {
    const body = {
      csr: order.csrPem,
      ott: await this.#token(order),
      notAfter: new Date(systemClock.now().getTime() + order.lifetimeMs).toISOString(),
    };
    try {
      const { certChain } = await call<{ certChain: string[] }>(this.#settings.url, '/1.0/sign', {
        ca: this.rootPem,
        body,
      });
      return parseIssuedCertificate(certChain.map((pem) => pem.trim()).join('\n'));
    } catch (error) {
      throw new Problem(
        'certificate_authority_unavailable',
        'The CA of hosts gave no certificate; try again.',
        {
          cause: error,
        },
      );
    }
  }

  async #token({ commonName, names }: CertificateParams): Promise<string> {
    const { url, provisioner, rootFingerprint } = this.#settings;
    const now = Math.floor(systemClock.now().getTime() / 1000);
    return await new SignJWT({ sans: names.map(({ value }) => value), sha: rootFingerprint })
      .setProtectedHeader({ alg: 'ES256', kid: this.#keyId, typ: 'JWT' })
      .setIssuer(provisioner)
      .setAudience(new URL('/1.0/sign', url).href)
      .setSubject(commonName)
      .setIssuedAt(now)
      .setNotBefore(now)
      .setExpirationTime(now + TOKEN_SECONDS)
      .setJti(newId())
      .sign(this.#key);
  }
}

/** The only response accepted from an unverified server: its fingerprint verifies it. */
async function fetchRoot({ url, rootFingerprint }: StepCaSettings): Promise<string> {
  const { ca } = await call<{ ca: string }>(url, `/root/${rootFingerprint}`, { ca: null });
  if (fingerprintOf(ca) !== rootFingerprint) {
    throw new Error(`${url.host} shows a root whose fingerprint is not ${rootFingerprint}`);
  }
  if (!new X509Certificate(ca).ca) throw new Error(`the root of ${url.host} is not a CA`);
  return ca;
}

async function findKeyId({ url, provisioner }: StepCaSettings, rootPem: string): Promise<string> {
  let cursor = '';
  do {
    const page = await call<{ provisioners: Provisioner[]; nextCursor?: string }>(
      url,
      `/provisioners?limit=100&cursor=${encodeURIComponent(cursor)}`,
      { ca: rootPem },
    );
    const found = page.provisioners.find(({ type, name }) => type === 'JWK' && name === provisioner);
    if (found?.key) return found.key.kid;
    cursor = page.nextCursor ?? '';
  } while (cursor !== '');
  throw new Error(`${url.host} has no JWK provisioner "${provisioner}"`);
}

function call<T>(base: URL, path: string, options: { ca: string | null; body?: object }): Promise<T> {
  const { ca, body } = options;
  return new Promise((resolve, reject) => {
    const sent = request(
      new URL(path, base),
      {
        method: body ? 'POST' : 'GET',
        ...(ca === null ? { rejectUnauthorized: false } : { ca }),
        agent: false,
        headers: body ? { 'content-type': 'application/json' } : {},
        signal: AbortSignal.timeout(DEADLINE_MS),
      },
      (answer) => {
        const parts: Buffer[] = [];
        let size = 0;
        answer.on('data', (part: Buffer) => {
          size += part.length;
          if (size > MAX_ANSWER_BYTES) answer.destroy(new Error(`${path} answered too much`));
          else parts.push(part);
        });
        answer.on('error', reject);
        answer.on('end', () => {
          const text = Buffer.concat(parts).toString('utf8');
          const status = answer.statusCode ?? 0;
          if (status >= 300) reject(new Error(`${path} answered ${status}: ${text.slice(0, 300)}`));
          else resolve(JSON.parse(text) as T);
        });
      },
    );
    sent.on('error', reject);
    sent.end(body ? JSON.stringify(body) : undefined);
  });
}
