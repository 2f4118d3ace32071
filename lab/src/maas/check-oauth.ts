import { MaasRefusal } from './refusal.ts';

export interface MaasUser {
  username: string;
  isAdmin: boolean;
  /** `consumer:token:secret`. */
  apiKey: string;
}

/** Allowed clock difference of a client, in seconds. */
const THRESHOLD = 300;

/** OAuth 1.0 PLAINTEXT as MAAS checks it: the key, the signature, the age of the request, and that it is no repetition. */
export class OauthChecker {
  readonly #users: readonly MaasUser[];
  readonly #nonces = new Set<string>();

  constructor(users: readonly MaasUser[]) {
    this.#users = users;
  }

  /** The user who signed the request. */
  check(header: string | undefined, now: Date): MaasUser {
    if (!header?.startsWith('OAuth '))
      throw new MaasRefusal(401, 'Unrecognised signature: no OAuth credentials');
    const given = parametersOf(header.slice('OAuth '.length));
    const parameter = (name: string): string => {
      const value = given.get(name);
      if (value === undefined) throw refused(`Missing parameter: ${name}`);
      return value;
    };
    if (given.has('oauth_version') && given.get('oauth_version') !== '1.0') {
      throw refused(`OAuth version ${given.get('oauth_version')} not supported.`);
    }
    if (parameter('oauth_signature_method') !== 'PLAINTEXT') {
      throw refused('Signature method not supported; try PLAINTEXT.');
    }
    const [consumer, token] = [parameter('oauth_consumer_key'), parameter('oauth_token')];
    const user = this.#users.find(({ apiKey }) => apiKey.startsWith(`${consumer}:`));
    if (!user) throw new MaasRefusal(401, 'Authorization Error: Invalid API key.');
    const [, expectedToken, secret] = user.apiKey.split(':');
    if (token !== expectedToken) throw refused(`Invalid access token: ${token}`);
    if (parameter('oauth_signature') !== `&${secret}`) throw refused('Invalid signature.');
    const timestamp = Number(parameter('oauth_timestamp'));
    const seconds = Math.floor(now.getTime() / 1000);
    if (!Number.isInteger(timestamp) || Math.abs(seconds - timestamp) > THRESHOLD) {
      throw refused(
        `Expired timestamp: given ${timestamp} and now ${seconds} has a greater difference than threshold ${THRESHOLD}`,
      );
    }
    const nonce = `${consumer}/${token}/${parameter('oauth_nonce')}`;
    if (this.#nonces.has(nonce)) throw refused(`Nonce already used: ${given.get('oauth_nonce')}`);
    this.#nonces.add(nonce);
    return user;
  }
}

function parametersOf(text: string): Map<string, string> {
  return new Map(
    text.split(',').map((part) => {
      const [, name = '', value = ''] = /^\s*([^=]+)="([^"]*)"\s*$/.exec(part) ?? [];
      return [name, decodeURIComponent(value)];
    }),
  );
}

function refused(message: string): MaasRefusal {
  return new MaasRefusal(401, `Authorization Error: '${message}'`);
}
