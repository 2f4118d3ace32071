import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import { Problem } from '../../../platform/http/problem.ts';
import { parsePublicKey } from '../../tenancy/ssh-keys/parse-public-key.ts';
import type { AllocationRow } from '../transition-allocation.ts';

type Connection = components['schemas']['Connection'];

/** How to reach the machine, from its host's report. */
export function describeConnection(row: AllocationRow): Connection {
  if (row.state !== 'active' || !row.connection) {
    throw new Problem('allocation_not_active', `The allocation is ${row.state}.`, {
      extensions: { state: row.state },
    });
  }
  const reported = row.connection;
  const address = reported.actual_ip ?? reported.expected_ip;
  return {
    ...reported,
    // Machines from before hosts reported it.
    host_public_key: reported.host_public_key ?? null,
    private_ip: address,
    ssh_key_fingerprints: row.ssh_authorized_keys.map((key) => parsePublicKey(key).fingerprint),
    ssh_command: `ssh ${reported.username}@${address}`,
  };
}
