import { createHash, timingSafeEqual } from 'node:crypto';
import ssh2, { type ClientChannel } from 'ssh2';
import { recordAudit } from '../../../platform/audit/record.ts';
import type { Services } from '../../../platform/services.ts';
import { decryptAccessKey } from '../../allocations/connection/access-key.ts';
import type { Machine } from '../../allocations/connection/find-machines.ts';
import type { MachineAccess } from '../machine-door.ts';
import { GuestUnreachableError } from '../tunnel/guest-unreachable.ts';
import { openGuestStream } from '../tunnel/open-guest-stream.ts';
import type { TunnelHub } from '../tunnel/tunnel-hub.ts';

export interface Shell {
  channel: ClientChannel;
  end(): void;
}

const SSH_PORT = 22;
const READY_TIMEOUT_MS = 15_000;

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
  const client = new ssh2.Client();
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
  return await new Promise((resolve, reject) => {
    client.on('error', (error) => {
      stream.destroy();
      reject(new GuestUnreachableError(error.message));
    });
    client.on('close', () => {
      stream.destroy();
      reject(new GuestUnreachableError('the machine closed the connection'));
    });
    client.on('ready', () => {
      client.shell({ term: 'xterm-256color', ...size }, (error, channel) => {
        if (error) {
          client.end();
          reject(new GuestUnreachableError(error.message));
          return;
        }
        resolve({ channel, end: () => client.end() });
      });
    });
    client.connect({
      sock: stream,
      username: connection.username,
      privateKey,
      readyTimeout: READY_TIMEOUT_MS,
      keepaliveInterval: 15_000,
      hostVerifier: (key: Buffer) => matchesFingerprint(key, connection.host_key_fingerprint),
    });
  });
}

/** Compares with the host key that the node reported when it created the machine. */
function matchesFingerprint(key: Buffer, fingerprint: string): boolean {
  const seen = Buffer.from(`SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`);
  const expected = Buffer.from(fingerprint);
  return seen.length === expected.length && timingSafeEqual(seen, expected);
}
