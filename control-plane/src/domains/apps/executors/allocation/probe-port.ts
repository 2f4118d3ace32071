import { request } from 'node:http';
import type { Duplex } from 'node:stream';
import { GuestUnreachableError } from '../../../access/tunnel/guest-unreachable.ts';
import { openGuestStream, PLATFORM_ACTOR } from '../../../access/tunnel/open-guest-stream.ts';
import { findMachine, NOBODY_LISTENS, rethrowUnreachable, type GuestAccess } from './open-guest.ts';

export type PortProbe = { kind: 'tcp' } | { kind: 'http'; path: string };

export interface PortProbeResult {
  ready: boolean;
  /** For people: what the port answered. */
  detail: string;
}

const ANSWER_MS = 10_000;

/** Asks a port of the machine the way a visitor will reach it: over the tunnel. Throws if the host cannot be asked. */
export async function probePort(
  { services, hub }: GuestAccess,
  allocationId: string,
  port: number,
  probe: PortProbe,
): Promise<PortProbeResult> {
  const { nodeId } = await findMachine(services, allocationId);
  let stream: Duplex;
  try {
    stream = await openGuestStream(services, hub, {
      nodeId,
      allocationId,
      actorId: PLATFORM_ACTOR,
      port,
    });
  } catch (error) {
    if (error instanceof GuestUnreachableError && error.message === NOBODY_LISTENS)
      return { ready: false, detail: `Nothing accepts connections on port ${port}.` };
    return rethrowUnreachable(error);
  }
  try {
    if (probe.kind === 'tcp') return { ready: true, detail: `Port ${port} accepts connections.` };
    return await get(stream, probe.path);
  } finally {
    stream.destroy();
  }
}

/** Ready is any answer that is neither an error of the server nor a missing page. */
async function get(stream: Duplex, path: string): Promise<PortProbeResult> {
  return await new Promise((resolve) => {
    const fail = (detail: string): void => resolve({ ready: false, detail });
    const asked = request({
      path,
      headers: { host: 'localhost', connection: 'close' },
      createConnection: () => stream,
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    asked.on('error', (error) => fail(`The port does not answer in HTTP: ${error.message}`));
    asked.on('response', (answer) => {
      answer.destroy();
      const status = answer.statusCode ?? 0;
      resolve({ ready: status >= 200 && status < 400, detail: `GET ${path} answers ${status}.` });
    });
    asked.end();
  });
}
