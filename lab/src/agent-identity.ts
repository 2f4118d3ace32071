import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** How long the agent's certificate in this state folder is still good; 0 without one. */
export async function identityValidForMs(agentDir: string): Promise<number> {
  try {
    const identity = JSON.parse(await readFile(join(agentDir, 'identity.json'), 'utf8')) as {
      certificate_pem: string;
    };
    const until = new X509Certificate(identity.certificate_pem).validTo;
    return Math.max(0, Date.parse(until) - Date.now());
  } catch {
    return 0;
  }
}
