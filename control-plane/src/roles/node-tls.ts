import type { Server } from 'node:https';
import { isIP } from 'node:net';
import { issueServerIdentity } from '../platform/keys/certificates.ts';
import type { Services } from '../platform/services.ts';

/** Well before the port's certificate ends, and often enough for a CA that could not be reached. */
const REISSUE_EVERY_MS = 4 * 3_600_000;
const THIS_MACHINE = ['localhost', '127.0.0.1'];

/** TLS of the agents' port under the trusted CAs, for these names and addresses besides this machine's own. */
export async function nodeTls({ authorities }: Pick<Services, 'authorities'>, hostnames: readonly string[]) {
  const names = [...new Set([...THIS_MACHINE, ...hostnames])];
  const { keyPem, certPem } = await issueServerIdentity(authorities.serving, {
    dns: names.filter((name) => isIP(name) === 0),
    ip: names.filter((name) => isIP(name) !== 0),
  });
  return { key: keyPem, cert: certPem, ca: authorities.bundle.pem, minVersion: 'TLSv1.3' as const };
}

/** New connections use the trusted CAs; open ones stay. */
export function refreshNodeTls(
  server: Server,
  services: Pick<Services, 'authorities' | 'log'>,
  hostnames: readonly string[],
): () => void {
  let latest = 0;
  const reissue = (): void => {
    const turn = ++latest;
    void nodeTls(services, hostnames).then(
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
