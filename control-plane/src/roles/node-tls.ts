import type { Server } from 'node:https';
import { issueServerIdentity } from '../platform/keys/certificates.ts';
import type { Services } from '../platform/services.ts';

/** Well before the certificate of the port ends. */
const REISSUE_EVERY_MS = 7 * 86_400_000;
const HOSTS = { dns: ['localhost'], ip: ['127.0.0.1'] };

/** TLS of the agents' port as the CAs in force want it. */
export async function nodeTls({ authorities }: Pick<Services, 'authorities'>) {
  const { keyPem, certPem } = await issueServerIdentity(authorities.serving, HOSTS);
  return { key: keyPem, cert: certPem, ca: authorities.bundle.pem, minVersion: 'TLSv1.3' as const };
}

/** New connections are made under the CAs in force; those that are open stay. */
export function keepNodeTls(server: Server, services: Pick<Services, 'authorities' | 'log'>): () => void {
  let latest = 0;
  const reissue = (): void => {
    const turn = ++latest;
    void nodeTls(services).then(
      (tls) => {
        if (turn === latest) server.setSecureContext(tls);
      },
      (error: unknown) => services.log.error({ err: error }, 'the node port keeps its old certificate'),
    );
  };
  const stopWatching = services.authorities.onChange(reissue);
  const timer = setInterval(reissue, REISSUE_EVERY_MS);
  timer.unref();
  return () => {
    latest++;
    clearInterval(timer);
    stopWatching();
  };
}
