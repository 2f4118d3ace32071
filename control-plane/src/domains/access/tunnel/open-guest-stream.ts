import type { Duplex } from 'node:stream';
import { signCanonical } from '@gpuaas/contracts/signing';
import type { AccessGrant } from '@gpuaas/contracts/tasks';
import { connectAuthority, encodeGrant, type TunnelKind } from '@gpuaas/contracts/tunnel';
import { newId } from '../../../platform/ids.ts';
import type { Services } from '../../../platform/services.ts';
import { dialReplica } from './dial-replica.ts';
import { GuestUnreachableError } from './guest-unreachable.ts';
import { openTunnelStream } from './open-tunnel-stream.ts';
import type { TunnelHub } from './tunnel-hub.ts';
import { findTunnel } from './tunnel-registry.ts';

export interface StreamTarget {
  nodeId: string;
  allocationId: string;
  /** A user, a service account, or the platform itself. */
  actorId: string;
  /** Null for the console log. */
  port: number | null;
  /** The tunnel to take; that of terminals if omitted. */
  carries?: TunnelKind;
}

export type StreamServices = Pick<Services, 'db' | 'keys' | 'authorities' | 'policies' | 'clock'>;

/** Stands for the platform where a grant names who enters: it looks after what runs in the machine. */
export const PLATFORM_ACTOR = '00000000-0000-0000-0000-000000000000';

/**
 * A byte stream to one port of an allocation's machine, under a short-lived grant that the agent checks. When the host
 * is connected to another gateway, the stream goes through that one.
 */
export async function openGuestStream(
  services: StreamServices,
  hub: TunnelHub,
  target: StreamTarget,
): Promise<Duplex> {
  const grant = grantFor(services, target);
  const signature = signCanonical(grant, services.keys.signing.privateKey);
  const header = encodeGrant({ grant, signature });
  for (const kind of kindsFor(target)) {
    const session = hub.session(target.nodeId, kind);
    if (session) return await openTunnelStream(session, header, connectAuthority(grant));
    const elsewhere = await findTunnel(services.db, { nodeId: target.nodeId, kind });
    if (elsewhere && elsewhere.replicaId !== hub.replicaId)
      return await dialReplica(elsewhere.address, kind, header, services.authorities.bundle.pem);
  }
  throw new GuestUnreachableError('the host is not connected to the gateway');
}

/** An agent of an earlier release has one tunnel for everything. */
function kindsFor({ carries = 'terminals' }: StreamTarget): readonly TunnelKind[] {
  return carries === 'apps' ? ['apps', 'terminals'] : ['terminals'];
}

function grantFor({ clock, policies }: StreamServices, target: StreamTarget): AccessGrant {
  const lifeMs = policies.get('terminal.grant_ttl_seconds') * 1000;
  return {
    grant_id: newId(),
    node_id: target.nodeId,
    allocation_id: target.allocationId,
    user_id: target.actorId,
    resource: target.port === null ? 'console_log' : 'port',
    port: target.port,
    expires_at: new Date(clock.now().getTime() + lifeMs).toISOString(),
  };
}
