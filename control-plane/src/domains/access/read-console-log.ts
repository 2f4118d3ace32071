import { recordAudit, type AuditEntry } from '../../platform/audit/record.ts';
import type { Caller } from '../../platform/auth/caller.ts';
import { Problem } from '../../platform/http/problem.ts';
import type { Services } from '../../platform/services.ts';
import type { AllocationRow } from '../allocations/transition-allocation.ts';
import { GuestUnreachableError } from './tunnel/guest-unreachable.ts';
import { openGuestStream } from './tunnel/open-guest-stream.ts';
import type { TunnelHub } from './tunnel/tunnel-hub.ts';

const MAX_BYTES = 1024 * 1024;
const READ_TIMEOUT_MS = 15_000;

/** The last part of the machine's serial console, as its host has it now. Each reading is audited before it is answered. */
export async function readConsoleLog(
  gateway: { services: Services; hub: TunnelHub },
  caller: Caller,
  allocation: Pick<AllocationRow, 'id' | 'node_id' | 'organization_id'>,
  source: Pick<AuditEntry, 'actorKind' | 'credentialId' | 'ip' | 'correlationId'>,
): Promise<string> {
  const log = await readFromHost(gateway, caller, allocation);
  await recordAudit(gateway.services.db, {
    actorUserId: caller.actorId,
    actorRole: caller.role,
    ...source,
    action: 'allocation.console_log_read',
    targetType: 'allocation',
    targetId: allocation.id,
    organizationId: allocation.organization_id,
    result: 'succeeded',
  });
  return log;
}

async function readFromHost(
  gateway: { services: Services; hub: TunnelHub },
  caller: Caller,
  allocation: Pick<AllocationRow, 'id' | 'node_id'>,
): Promise<string> {
  const { services, hub } = gateway;
  try {
    if (!allocation.node_id) throw new GuestUnreachableError('it is on no host');
    const stream = await openGuestStream(services, hub, {
      nodeId: allocation.node_id,
      allocationId: allocation.id,
      actorId: caller.id,
      port: null,
    });
    const timer = setTimeout(
      () => stream.destroy(new GuestUnreachableError('the host fell silent')),
      READ_TIMEOUT_MS,
    );
    try {
      const chunks: Buffer[] = [];
      let bytes = 0;
      for await (const chunk of stream) {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > MAX_BYTES) break;
      }
      return Buffer.concat(chunks).subarray(0, MAX_BYTES).toString('utf8');
    } finally {
      clearTimeout(timer);
      stream.destroy();
    }
  } catch (error) {
    if (!(error instanceof GuestUnreachableError)) throw error;
    throw new Problem('console_log_unavailable', `The console log cannot be read: ${error.message}.`);
  }
}
