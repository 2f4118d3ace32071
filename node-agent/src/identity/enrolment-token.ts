export interface EnrolmentToken {
  /** The whole token; the server checks the secret. */
  text: string;
  /** SHA-256 of the CA certificate's DER, lower-case hex. */
  caFingerprint: string;
}

const TOKEN = /^gpe_[A-Za-z0-9_-]+\.(?<fingerprint>[0-9a-f]{64})$/;

export function parseEnrolmentToken(text: string): EnrolmentToken {
  const fingerprint = TOKEN.exec(text)?.groups?.['fingerprint'];
  if (!fingerprint)
    throw new Error('the enrolment token is malformed (expected gpe_<secret>.<CA fingerprint>)');
  return { text, caFingerprint: fingerprint };
}
