/** A person as an identity provider describes them. */
export interface Identity {
  issuer: string;
  subject: string;
  email: string;
  /** The provider confirms that the address is theirs; otherwise the address proves nothing. */
  emailVerified: boolean;
  name: string;
  /** The tenant of the identity provider; null for the platform's provider. */
  tenant: Tenant | null;
}

export interface Tenant {
  organizationId: string;
  /** Project in which a new person becomes a Regular User; null for none. */
  newcomersProjectId: string | null;
}

/** Creates the user of an identity if there is none yet; throws a `Problem` if they may not sign in. */
export type EnsureUser = (identity: Identity) => Promise<void>;

const MAX_EMAIL = 320;
const MAX_NAME = 200;

/** Claims are untrusted: a name must be text, and a long one is cut or dropped. */
export function identityFrom(
  claims: Record<string, unknown>,
): Pick<Identity, 'email' | 'emailVerified' | 'name'> {
  const email = text(claims['email']) ?? '';
  return {
    email: email.length <= MAX_EMAIL ? email : '',
    emailVerified: claims['email_verified'] === true,
    name: (text(claims['name']) ?? text(claims['preferred_username']) ?? email).slice(0, MAX_NAME),
  };
}

function text(claim: unknown): string | null {
  if (typeof claim !== 'string') return null;
  const clean = claim.replaceAll(/\p{Cc}/gu, '').trim();
  return clean === '' ? null : clean;
}
