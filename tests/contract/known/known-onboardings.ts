import { newId } from '@gpuaas/control-plane/platform/ids';
import type { TestApi } from '../../harness/api.ts';

/** An onboarding in progress; there is no MAAS here that could start it. */
export async function seedOnboarding({ services }: TestApi): Promise<string> {
  const id = newId();
  await services.db
    .insertInto('node_onboardings')
    .values({
      id,
      maas_system_id: id.slice(-12),
      hostname: `maas-${id.slice(-12)}`,
      profile: 'slice_vm',
      region: 'uae-north-1',
      pool: 'default',
      rack: 'r1',
      node_family: 'hgx-h200',
      correlation_id: newId(),
      requested_by: newId(),
      requested_at: services.clock.now(),
    })
    .execute();
  await services.db
    .insertInto('node_onboarding_steps')
    .values({ onboarding_id: id, position: 0, step: 'tag' })
    .execute();
  return id;
}
