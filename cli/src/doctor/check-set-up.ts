import { execFile } from 'node:child_process';
import { contractVersion } from '@gpuaas/sdk/operations';
import type { components } from '@gpuaas/sdk/contract';
import type { Session } from '../session.ts';
import { placeOfTokens } from '../sign-in/kept-tokens.ts';
import { isCompatible } from '../warn-of-skew.ts';

export interface Finding {
  check: string;
  result: 'ok' | 'warning' | 'failed';
  detail: string;
  /** What to do about it. */
  next?: string;
}

const DEADLINE_MS = 10_000;
/** Sign-in and signed times stand more than this, barely. */
const CLOCK_MS = 30_000;

/** From this machine to a machine that could be launched, in the order in which things fail. */
export async function checkSetUp(session: Session): Promise<Finding[]> {
  const here = [nodeRuntime(), context(session), credential(session), await openSsh()];
  const server = await reach(session.url);
  if (!server) {
    const next = 'check the address (gpuaas context list) and that the platform runs';
    return [...here, { check: 'server', result: 'failed', detail: `${session.url} does not answer.`, next }];
  }
  return [...here, ...server, ...(await account(session))];
}

function nodeRuntime(): Finding {
  const major = Number.parseInt(process.versions.node, 10);
  const detail = `Node ${process.versions.node}, gpuaas ${contractVersion}`;
  if (major >= 20) return { check: 'runtime', result: 'ok', detail };
  return { check: 'runtime', result: 'failed', detail, next: 'install Node 20 or newer' };
}

function context({ context: { name, url, project } }: Session): Finding {
  const words = name ? `${name}: ${url}` : `${url}, not by name`;
  return { check: 'context', result: 'ok', detail: project ? `${words}, project ${project}` : words };
}

function credential({ credential: used, context: { signIn } }: Session): Finding {
  if ('apiKey' in used) return { check: 'credential', result: 'ok', detail: 'an API key' };
  const place = placeOfTokens(signIn);
  if (place === 'keyring') return { check: 'credential', result: 'ok', detail: 'a sign-in, in the keyring' };
  if (place === 'file')
    return { check: 'credential', result: 'ok', detail: 'a sign-in, in a file that only you can read' };
  return { check: 'credential', result: 'failed', detail: 'None.', next: 'gpuaas login' };
}

async function openSsh(): Promise<Finding> {
  const version = await new Promise<string | null>((resolve) => {
    execFile('ssh', ['-V'], { timeout: DEADLINE_MS }, (error, _out, told) =>
      resolve(error ? null : told.trim()),
    );
  });
  if (version) return { check: 'ssh', result: 'ok', detail: version };
  const next = 'install an OpenSSH client to log in to machines';
  return { check: 'ssh', result: 'warning', detail: 'There is no ssh command.', next };
}

async function reach(url: string): Promise<Finding[] | null> {
  const asked = Date.now();
  const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(DEADLINE_MS) }).catch(
    () => null,
  );
  if (!response) return null;
  const readiness = (await response.json().catch(() => null)) as components['schemas']['Readiness'] | null;
  if (!readiness || !Array.isArray(readiness.parts)) {
    const detail = `${url} answers, but not as a GPUaaS platform does.`;
    return [{ check: 'server', result: 'failed', detail, next: 'check the address (gpuaas context list)' }];
  }
  return [ready(readiness), release(response), clock(response, asked)];
}

function ready({ ready: isReady, parts }: components['schemas']['Readiness']): Finding {
  if (isReady) return { check: 'server', result: 'ok', detail: 'ready' };
  const missing = parts
    .filter((part) => !part.ready)
    .map(({ name, detail }) => `${name}: ${detail ?? 'not ready'}`);
  return {
    check: 'server',
    result: 'warning',
    detail: `Not ready: ${missing.join('; ')}`,
    next: 'wait a moment',
  };
}

function release(response: Response): Finding {
  const theirs = response.headers.get('x-gpuaas-version');
  if (theirs === null)
    return { check: 'release', result: 'warning', detail: 'The server does not say its release.' };
  if (isCompatible(contractVersion, theirs))
    return { check: 'release', result: 'ok', detail: `server ${theirs}` };
  const detail = `The server is of ${theirs}, this gpuaas of ${contractVersion}.`;
  return { check: 'release', result: 'warning', detail, next: 'install the gpuaas of that release' };
}

function clock(response: Response, asked: number): Finding {
  const theirs = Date.parse(response.headers.get('date') ?? '');
  const apart = Math.abs(theirs - (asked + Date.now()) / 2);
  if (Number.isNaN(apart))
    return { check: 'clock', result: 'warning', detail: 'The server does not say its time.' };
  if (apart < CLOCK_MS) return { check: 'clock', result: 'ok', detail: 'as the server’s' };
  const detail = `${Math.round(apart / 1000)} s apart from the server’s.`;
  return { check: 'clock', result: 'warning', detail, next: 'set the clock of this machine' };
}

async function account({ client }: Session): Promise<Finding[]> {
  const { data: me } = await client.GET('/api/v1/me');
  if (!me)
    return [
      { check: 'account', result: 'failed', detail: 'The server does not know you.', next: 'gpuaas login' },
    ];
  const projects = me.organizations.flatMap((organization) => organization.projects);
  const who = me.user?.email ?? me.service_account?.name ?? 'somebody';
  const known: Finding = { check: 'account', result: 'ok', detail: `${who}, ${projects.length} projects` };
  const { data: keys } = me.user ? await client.GET('/api/v1/ssh-keys') : {};
  if (!keys || keys.items.length > 0 || projects.length === 0) return [known];
  const next = 'gpuaas ssh-keys create ~/.ssh/id_ed25519.pub';
  return [known, { check: 'ssh key', result: 'warning', detail: 'You have registered none.', next }];
}
