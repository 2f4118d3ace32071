/** Somebody as an identity provider describes them. */
export interface Identity {
  issuer: string;
  subject: string;
  email: string;
  /** The provider says that the address is theirs; without it the address proves nothing. */
  emailVerified: boolean;
  name: string;
  /** The tenant whose own provider vouches for them; null for the platform's provider. */
  tenant: Tenant | null;
}

export interface Tenant {
  organizationId: string;
  /** Where somebody new becomes a Regular User; null for nowhere. */
  newcomersProjectId: string | null;
}

/** Makes the user of an identity if there is none yet; throws a `Problem` when they may not sign in. */
export type SignUp = (identity: Identity) => Promise<void>;

const MAX_EMAIL = 320;
const MAX_NAME = 200;

/** Claims come from outside: what is no text is no name, and what is too long is cut or left out. */
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
