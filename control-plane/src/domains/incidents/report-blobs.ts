import type { Clock } from '../../platform/clock.ts';
import type { Db } from '../../platform/db/database.ts';
import { inScope } from '../../platform/db/scope.ts';
import { openIncident, resolveIncident } from './open-incident.ts';

/** Opens an incident for damaged content, and closes it when the content was stored again. */
export function reportBlobs({ db, clock }: { db: Db; clock: Clock }) {
  return {
    onCorrupt: async ({ digest, backend, found }: { digest: string; backend: string; found: string }) => {
      await inScope(db, { role: 'gpuaas_worker' }, (tx) =>
        openIncident(tx, clock.now(), {
          type: 'blob_corrupt',
          targetType: 'blob',
          targetId: digest,
          summary: `${digest} in ${backend} is damaged: found ${found}.`,
          detail: { backend, found },
        }),
      );
    },
    onRepaired: async (digest: string) => {
      await inScope(db, { role: 'gpuaas_worker' }, (tx) =>
        resolveIncident(
          tx,
          clock.now(),
          { type: 'blob_corrupt', targetId: digest },
          'The content was stored again.',
        ),
      );
    },
  };
}
