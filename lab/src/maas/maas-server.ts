import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listeningPort } from '@gpuaas/contracts/listening-port';
import { OauthChecker, type MaasUser } from './check-oauth.ts';
import { FakeMachine, type NewMachine } from './fake-machine.ts';
import { handleOperation, type Inventory } from './operations.ts';
import { MaasRefusal } from './refusal.ts';

export const ADMIN: MaasUser = { username: 'gpuaas', isAdmin: true, apiKey: 'Cons0mer:T0ken:S3cret' };
export const USER: MaasUser = { username: 'somebody', isAdmin: false, apiKey: 'Consum3r:Tok3n:Secr3t' };

/** Fault of a request: the response is lost after the work, nothing is done, or it waits for a promise. */
export type ServerFault = 'lose answer' | 'unavailable' | Promise<void>;

export interface MaasServer {
  /** In the format of `MAAS_URL`. */
  url: string;
  add(machine: NewMachine): FakeMachine;
  machine(systemId: string): FakeMachine;
  /** `POST machines/abc/ deploy` and so on, as they were granted. */
  readonly granted: string[];
  /** For the next requests, in order. */
  readonly faults: (ServerFault | null)[];
  stop(): Promise<void>;
}

/**
 * MAAS on this machine: the part of its API 2.0 that the platform uses, over HTTP. It refuses what MAAS
 * refuses: wrong keys and signatures, repeated nonces, old timestamps, bodies that are no forms, unknown
 * operations, wrong states, unknown scripts and tags.
 */
export async function startMaasServer(
  options: {
    /** Duration of each of a machine's own transitions. */
    paceMs?: number;
    scripts?: readonly string[];
    onDeployed?(machine: FakeMachine): Promise<void> | void;
  } = {},
): Promise<MaasServer> {
  const inventory: Inventory = {
    machines: new Map(),
    tags: new Set(['virtual']),
    scripts: new Set(['smartctl-validate', ...(options.scripts ?? [])]),
  };
  const around = { paceMs: options.paceMs ?? 20, onDeployed: options.onDeployed ?? (() => undefined) };
  const granted: string[] = [];
  const faults: MaasServer['faults'] = [];
  const oauth = new OauthChecker([ADMIN, USER]);
  const server = createServer((request, response) => {
    void answer({ inventory, granted, faults, oauth }, request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const machine = (systemId: string): FakeMachine => {
    const found = inventory.machines.get(systemId);
    if (!found) throw new Error(`there is no machine ${systemId}`);
    return found;
  };
  return {
    url: `http://127.0.0.1:${listeningPort(server)}/MAAS`,
    granted,
    faults,
    machine,
    add(added) {
      const made = new FakeMachine(added, around);
      inventory.machines.set(made.systemId, made);
      return made;
    },
    async stop() {
      for (const each of inventory.machines.values()) each.stop();
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

interface Parts extends Pick<MaasServer, 'granted' | 'faults'> {
  inventory: Inventory;
  oauth: OauthChecker;
}

async function answer(parts: Parts, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const fault = parts.faults.shift() ?? null;
  const body = await text(request);
  if (fault instanceof Promise) await fault;
  if (fault === 'unavailable') {
    response.writeHead(503, { 'content-type': 'text/plain' }).end('Service Unavailable');
    return;
  }
  try {
    const made = handle(parts, request, body);
    if (fault === 'lose answer') response.destroy();
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(made));
  } catch (error) {
    if (!(error instanceof MaasRefusal)) throw error;
    const challenge = error.status === 401 ? { 'www-authenticate': 'OAuth realm="MAAS API"' } : {};
    response.writeHead(error.status, { 'content-type': error.type, ...challenge }).end(error.body);
  }
}

function handle({ inventory, granted, oauth }: Parts, request: IncomingMessage, body: string): unknown {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://maas');
  const path = /^\/MAAS\/api\/2\.0\/(.*)$/.exec(pathname)?.[1];
  if (path === undefined) throw new MaasRefusal(404, 'Not Found');
  const user = oauth.check(request.headers.authorization, new Date());
  const method = request.method ?? 'GET';
  if (
    method === 'POST' &&
    !request.headers['content-type']?.startsWith('application/x-www-form-urlencoded')
  ) {
    throw new MaasRefusal(400, 'Invalid content-type; a form was expected');
  }
  const form = new URLSearchParams(body);
  const made = handleOperation(inventory, { method, path, query: searchParams, form, user });
  if (method === 'POST') granted.push(`${path} ${searchParams.get('op') ?? ''}`.trim());
  return made;
}
