import type { PolicyName } from '@gpuaas/contracts/generated/policies.ts';
import type { GpuaasClient } from '@gpuaas/sdk/client';
import { unwrap } from '@gpuaas/sdk/problem';
import type { TestPlatform } from '../platform.ts';

/** Runs a command in the machine of an allocation, as its tenant; returns what it printed. */
export async function inGuest(
  { services }: Pick<TestPlatform, 'services'>,
  allocationId: string,
  command: string,
): Promise<string> {
  const output = await services.guests.enter(allocationId, (guest) =>
    guest.run({ command, maxBytes: 64 * 1024, deadlineMs: 60_000 }),
  );
  return output.toString('utf8').trim();
}

export async function setPolicy(
  operator: GpuaasClient,
  policy_name: PolicyName,
  value: number,
): Promise<void> {
  await unwrap(
    operator.PUT('/api/v1/admin/policies/{policy_name}', {
      params: { path: { policy_name } },
      body: { value },
    }),
  );
}
