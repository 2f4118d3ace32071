import { createServer } from 'node:net';
import { ConfigError } from './config.ts';

/** Fails early, with the name of the setting, if another process listens on a port we need. */
export async function requireFreePort(host: string, port: number, setting: string): Promise<void> {
  if (port === 0) return;
  await new Promise<void>((resolve, reject) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'is taken' : `cannot be used (${error.code})`;
      reject(new ConfigError(`Port ${port} on ${host} ${why}; choose another with ${setting}.`));
    });
    probe.listen(port, host, () => probe.close(() => resolve()));
  });
}
