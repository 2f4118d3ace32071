import { createHash, timingSafeEqual } from 'node:crypto';

/** A person who can sign in at the demo identity provider. The page shows the password. */
export type DevPerson = { sub: string; email: string; name: string; password: string };

/** The person with this email and password. Takes the same time whether or not the email is known. */
export function authenticate(people: DevPerson[], email: string, password: string): DevPerson | undefined {
  const wanted = email.trim().toLowerCase();
  const person = people.find((candidate) => candidate.email.toLowerCase() === wanted);
  const matches = timingSafeEqual(digest(password), digest(person?.password ?? ''));
  return matches ? person : undefined;
}

/** Digests have one length, which the comparison needs and passwords do not have. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

export function claimsOf({ sub, email, name }: DevPerson): {
  sub: string;
  email: string;
  email_verified: boolean;
  name: string;
} {
  return { sub, email, email_verified: true, name };
}
