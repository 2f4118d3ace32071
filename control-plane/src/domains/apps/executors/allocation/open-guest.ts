import type { Client } from 'ssh2';
import type { Services } from '../../../../platform/services.ts';
import { GuestUnreachableError } from '../../../access/tunnel/guest-unreachable.ts';
import { logIn } from '../../../access/tunnel/log-in.ts';
import {
  openGuestStream,
  PLATFORM_ACTOR,
  type StreamServices,
} from '../../../access/tunnel/open-guest-stream.ts';
import type { TunnelHub } from '../../../access/tunnel/tunnel-hub.ts';
import { decryptAccessKey } from '../../../allocations/connection/access-key.ts';
import { findMachines, type Machine } from '../../../allocations/connection/find-machines.ts';
import { GuestError, type GuestFailure } from './guest-error.ts';
import type { Guest } from './guest.ts';
import { listenOverSsh } from './listen-over-ssh.ts';
import { runOverSsh } from './run-over-ssh.ts';

/** What it takes to enter a machine: a role that may read access keys, and the tunnels of this process, if it has any. */
export interface GuestAccess {
  services: StreamServices & Pick<Services, 'sealer'>;
  hub: TunnelHub;
}

const SSH_PORT = 22;
/** The host's code for a port of the machine on which nothing listens. */
export const NOBODY_LISTENS = 'guest_unreachable';

/** Enters the machine of an allocation as the terminal does: over the tunnel, with the allocation's own key. */
export async function openGuest(access: GuestAccess, allocationId: string): Promise<Guest> {
  const client = await connect(access, allocationId);
  return {
    run: (command) => runOverSsh(client, command),
    listen: (port, accept) => listenOverSsh(client, port, accept),
    ended: new Promise((resolve) => client.once('close', () => resolve())),
    now: () => access.services.clock.now(),
    close: () => void client.end(),
  };
}

async function connect({ services, hub }: GuestAccess, allocationId: string): Promise<Client> {
  const machine = await findMachine(services, allocationId);
  const privateKey = await decryptAccessKey(services, allocationId);
  if (!privateKey) throw new GuestError('access_lost', 'The allocation has no access key.');
  const { nodeId, connection } = machine;
  const stream = await openGuestStream(services, hub, {
    nodeId,
    allocationId,
    actorId: PLATFORM_ACTOR,
    port: SSH_PORT,
  }).catch(rethrowUnreachable);
  const client = await logIn(stream, { ...connection, privateKey }).catch((error: unknown) => {
    if (!(error instanceof GuestUnreachableError)) throw error;
    throw new GuestError(refusesUs(error.cause) ? 'access_lost' : 'node_lost', error.message);
  });
  // A pending command fails through its channel.
  client.on('error', () => undefined);
  return client;
}

/** Machines that are being released still have their key: their members are stopped before it is destroyed. */
export async function findMachine({ db }: Pick<Services, 'db'>, allocationId: string): Promise<Machine> {
  const machine = (await findMachines(db, [allocationId])).get(allocationId);
  if (!machine?.nodeId || !machine.connection)
    throw new GuestError('access_lost', 'The allocation has no machine.');
  return machine;
}

/** A host that answers gives a code; any other text means that it did not answer. */
export function rethrowUnreachable(error: unknown): never {
  if (!(error instanceof GuestUnreachableError)) throw error;
  const isCode = /^[a-z_]+$/.test(error.message);
  throw new GuestError(isCode ? (CODES[error.message] ?? 'executor_error') : 'node_lost', error.message);
}

/** Codes of a host that the machine or its tenant is the cause of. */
const CODES: Readonly<Record<string, GuestFailure>> = {
  /** The machine is off, or starts. */
  [NOBODY_LISTENS]: 'node_lost',
  too_many_streams: 'node_lost',
  allocation_released: 'access_lost',
};

/** An SSH server that answers and does not let us in; one that is silent or closes is being started, or ended. */
function refusesUs(cause: unknown): boolean {
  return (
    typeof cause === 'object' &&
    cause !== null &&
    'level' in cause &&
    (cause.level === 'client-authentication' || cause.level === 'handshake' || cause.level === 'protocol')
  );
}
