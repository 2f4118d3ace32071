import type { ClientChannel } from 'ssh2';
import { recordAudit } from '../../../platform/audit/record.ts';
import type { Services } from '../../../platform/services.ts';
import { decryptAccessKey } from '../../allocations/connection/access-key.ts';
import type { Machine } from '../../allocations/connection/find-machines.ts';
import type { MachineAccess } from '../machine-door.ts';
import { GuestUnreachableError } from '../tunnel/guest-unreachable.ts';
import { logIn } from '../tunnel/log-in.ts';
import { openGuestStream } from '../tunnel/open-guest-stream.ts';
import type { TunnelHub } from '../tunnel/tunnel-hub.ts';

export interface Shell {
  channel: ClientChannel;
  end(): void;
}

const SSH_PORT = 22;

/** An SSH shell in the allocation's machine, over the tunnel, with the platform's own key for it. */
export async function openShell(
  services: Services,
  hub: TunnelHub,
  access: MachineAccess,
  { nodeId, organizationId, connection }: Machine,
  size: { cols: number; rows: number },
): Promise<Shell> {
  const { db } = services;
  const { allocationId, actorId } = access;
  const privateKey = await decryptAccessKey(services, allocationId);
  if (!privateKey) throw new GuestUnreachableError('the allocation is not active');
  const stream = await openGuestStream(services, hub, { nodeId, allocationId, actorId, port: SSH_PORT });
  await recordAudit(db, {
    actorUserId: actorId,
    actorKind: access.credential.kind === 'service_account_token' ? 'service_account' : 'user',
    actorRole: 'terminal',
    action: 'allocation.terminal_open',
    targetType: 'allocation',
    targetId: allocationId,
    organizationId,
    result: 'succeeded',
    correlationId: access.correlationId,
  });
  const client = await logIn(stream, { ...connection, privateKey });
  return await new Promise((resolve, reject) => {
    client.shell({ term: 'xterm-256color', ...size }, (error, channel) => {
      if (error) {
        client.end();
        reject(new GuestUnreachableError(error.message));
        return;
      }
      resolve({ channel, end: () => client.end() });
    });
  });
}
