import { Problem } from '../../../platform/http/problem.ts';
import type { MaasClient } from '../../../platform/maas/maas-client.ts';
import { MaasError } from '../../../platform/maas/maas-error.ts';
import type { Services } from '../../../platform/services.ts';

/** Calls MAAS for a waiting caller; errors become problems of our API. */
export async function callMaas<T>({ maas }: Services, ask: (client: MaasClient) => Promise<T>): Promise<T> {
  if (!maas) throw new Problem('maas_disabled', 'Set MAAS_ENABLED and where MAAS is.');
  try {
    return await ask(maas.client);
  } catch (error) {
    if (!(error instanceof MaasError)) throw error;
    switch (error.trouble) {
      case 'unavailable':
        throw new Problem('maas_unavailable', error.message);
      case 'not_found':
        throw new Problem('not_found', 'MAAS has no such machine.');
      default:
        throw new Problem('maas_refused', error.message);
    }
  }
}
