import { createHash, type X509Certificate } from 'node:crypto';
import { connect } from 'node:tls';

const HANDSHAKE_MS = 10_000;

export class AuthorityMismatchError extends Error {}

/**
 * Reads the chain that the server presents and returns the CA certificate with the wanted fingerprint.
 * Nothing is sent on this unverified connection; the caller opens a second one with that CA as the only trust
 * root.
 */
export async function findPinnedAuthority(server: URL, fingerprint: string): Promise<string> {
  const chain = await presentedChain(server);
  const authority = chain.find((certificate) => certificate.ca && sha256(certificate) === fingerprint);
  if (!authority) {
    const seen = chain.map(sha256).join(', ');
    throw new AuthorityMismatchError(
      `${server.host} does not present the CA named in the token (wanted ${fingerprint}, saw ${seen})`,
    );
  }
  return authority.toString();
}

function presentedChain(server: URL): Promise<X509Certificate[]> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host: hostOf(server),
      port: Number(server.port || 443),
      minVersion: 'TLSv1.3',
      rejectUnauthorized: false,
    });
    socket.setTimeout(HANDSHAKE_MS, () =>
      socket.destroy(new Error(`${server.host} did not answer the handshake`)),
    );
    socket.on('error', reject);
    socket.on('secureConnect', () => {
      const chain: X509Certificate[] = [];
      let certificate = socket.getPeerX509Certificate();
      while (certificate && chain.length < 10) {
        chain.push(certificate);
        certificate = certificate.issuerCertificate;
      }
      socket.destroy();
      resolve(chain);
    });
  });
}

function hostOf(server: URL): string {
  return server.hostname.replace(/^\[(.*)\]$/, '$1');
}

function sha256(certificate: X509Certificate): string {
  return createHash('sha256').update(certificate.raw).digest('hex');
}
