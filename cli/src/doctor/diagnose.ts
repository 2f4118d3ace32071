import { execFile } from 'node:child_process';
import { contractVersion } from '@gpuaas/sdk/operations';
import type { components } from '@gpuaas/sdk/contract';
import type { Session } from '../session.ts';
import { tokenStorage } from '../sign-in/stored-tokens.ts';
import { isCompatible } from '../version-skew.ts';

export interface Diagnosis {
  check: string;
  result: 'ok' | 'warning' | 'failed';
  detail: string;
  /** Suggested remedy. */
  next?: string;
}

const DEADLINE_MS = 10_000;
/** Sign-in and signed times barely tolerate more than this. */
const CLOCK_MS = 30_000;

/** Checks the path from this machine to a launch, in the order in which steps can fail. */
export async function diagnose(session: Session): Promise<Diagnosis[]> {
  const here = [nodeRuntime(), context(session), credential(session), await openSsh()];
  const server = await reach(session.url);
  if (!server) {
    const next = 'check the URL (gpuaas context list) and that the platform is running';
    return [...here, { check: 'server', result: 'failed', detail: `${session.url} does not respond.`, next }];
  }
  return [...here, ...server, ...(await account(session))];
}

function nodeRuntime(): Diagnosis {
  const major = Number.parseInt(process.versions.node, 10);
  const detail = `Node ${process.versions.node}, gpuaas ${contractVersion}`;
  if (major >= 20) return { check: 'runtime', result: 'ok', detail };
  return { check: 'runtime', result: 'failed', detail, next: 'install Node 20 or newer' };
}

function context({ context: { name, url, project } }: Session): Diagnosis {
  const words = name ? `${name}: ${url}` : `${url} (no named context)`;
  return { check: 'context', result: 'ok', detail: project ? `${words}, project ${project}` : words };
}

function credential({ credential: used, context: { signIn } }: Session): Diagnosis {
  if ('apiKey' in used) return { check: 'credential', result: 'ok', detail: 'an API key' };
  const place = tokenStorage(signIn);
  if (place === 'keyring')
    return { check: 'credential', result: 'ok', detail: 'signed in (token in keyring)' };
  if (place === 'file')
    return { check: 'credential', result: 'ok', detail: 'signed in (token in a private file)' };
  return { check: 'credential', result: 'failed', detail: 'None.', next: 'gpuaas login' };
}

async function openSsh(): Promise<Diagnosis> {
  const version = await new Promise<string | null>((resolve) => {
    execFile('ssh', ['-V'], { timeout: DEADLINE_MS }, (error, _out, version) =>
      resolve(error ? null : version.trim()),
    );
  });
  if (version) return { check: 'ssh', result: 'ok', detail: version };
  const next = 'install an OpenSSH client to connect to machines';
  return { check: 'ssh', result: 'warning', detail: 'ssh is not installed.', next };
}

async function reach(url: string): Promise<Diagnosis[] | null> {
  const asked = Date.now();
  const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(DEADLINE_MS) }).catch(
    () => null,
  );
  if (!response) return null;
  const readiness = (await response.json().catch(() => null)) as components['schemas']['Readiness'] | null;
  if (!readiness || !Array.isArray(readiness.parts)) {
    const detail = `${url} responds, but is not a GPUaaS platform.`;
    return [{ check: 'server', result: 'failed', detail, next: 'check the URL (gpuaas context list)' }];
  }
  return [ready(readiness), release(response), clock(response, asked)];
}

function ready({ ready: isReady, parts }: components['schemas']['Readiness']): Diagnosis {
  if (isReady) return { check: 'server', result: 'ok', detail: 'ready' };
  const missing = parts
    .filter((part) => !part.ready)
    .map(({ name, detail }) => `${name}: ${detail ?? 'not ready'}`);
  return {
    check: 'server',
    result: 'warning',
    detail: `Not ready: ${missing.join('; ')}`,
    next: 'try again in a moment',
  };
}

function release(response: Response): Diagnosis {
  const theirs = response.headers.get('x-gpuaas-version');
  if (theirs === null)
    return { check: 'release', result: 'warning', detail: 'The server does not report its version.' };
  if (isCompatible(contractVersion, theirs))
    return { check: 'release', result: 'ok', detail: `server ${theirs}` };
  const detail = `Server version ${theirs}, gpuaas version ${contractVersion}.`;
  return { check: 'release', result: 'warning', detail, next: 'install the matching gpuaas version' };
}

function clock(response: Response, asked: number): Diagnosis {
  const theirs = Date.parse(response.headers.get('date') ?? '');
  const apart = Math.abs(theirs - (asked + Date.now()) / 2);
  if (Number.isNaN(apart))
    return { check: 'clock', result: 'warning', detail: 'The server does not report its time.' };
  if (apart < CLOCK_MS) return { check: 'clock', result: 'ok', detail: 'in sync with the server' };
  const detail = `${Math.round(apart / 1000)} s off the server clock.`;
  return { check: 'clock', result: 'warning', detail, next: 'correct the clock of this machine' };
}

async function account({ client }: Session): Promise<Diagnosis[]> {
  const { data: me } = await client.GET('/api/v1/me');
  if (!me) return [{ check: 'account', result: 'failed', detail: 'Not signed in.', next: 'gpuaas login' }];
  const projects = me.organizations.flatMap((organization) => organization.projects);
  const who = me.user?.email ?? me.service_account?.name ?? 'unknown user';
  const count = `${projects.length}${me.next_page === null ? '' : ' or more'} projects`;
  const known: Diagnosis = { check: 'account', result: 'ok', detail: `${who}, ${count}` };
  const { data: keys } = me.user ? await client.GET('/api/v1/ssh-keys') : {};
  if (!keys || keys.items.length > 0 || projects.length === 0) return [known];
  const next = 'gpuaas ssh-keys create ~/.ssh/id_ed25519.pub';
  return [known, { check: 'ssh key', result: 'warning', detail: 'No SSH keys yet.', next }];
}
