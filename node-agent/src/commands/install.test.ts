import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readConfig } from '../config.ts';
import type { RunCommand } from '../host/linux/commands.ts';
import { install, type InstallOptions } from './install.ts';
import { uninstall } from './uninstall.ts';

const TOKEN = `gpe_${'s'.repeat(32)}.${'0a'.repeat(32)}`;
let root: string;
let ran: string[];
let printed: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'gpuaas-install-'));
  ran = [];
  printed = '';
});
afterEach(() => rm(root, { recursive: true }));

const run: RunCommand = (tool, args) => {
  ran.push([tool, ...args].join(' '));
  return Promise.resolve({ code: 0, stdout: '', stderr: '' });
};
const print = (text: string): void => void (printed += `${text}\n`);

function options(change: Partial<InstallOptions> = {}): InstallOptions {
  return {
    server: 'https://gpuaas.example:8443',
    hostname: 'gpu-01',
    token: TOKEN,
    command: ['/usr/bin/node', '/opt/gpuaas/node-agent/src/main.ts'],
    root,
    dryRun: false,
    isRoot: true,
    ...change,
  };
}

const at = (path: string): string => join(root, path);
const mode = (path: string): number => statSync(at(path)).mode & 0o777;

it('installs unit, settings and token and starts the service', async () => {
  await install(options(), run, print);
  expect(readFileSync(at('var/lib/gpuaas/enrolment-token'), 'utf8').trim()).toBe(TOKEN);
  expect([mode('var/lib/gpuaas/enrolment-token'), mode('etc/gpuaas/node-agent.env')]).toEqual([0o600, 0o600]);
  const settings = Object.fromEntries(
    readFileSync(at('etc/gpuaas/node-agent.env'), 'utf8')
      .split('\n')
      .filter((line) => line.includes('=') && !line.startsWith('#'))
      .map((line) => line.split('=') as [string, string]),
  );
  expect(readConfig(settings)).toMatchObject({ hostname: 'gpu-01', dir: '/var/lib/gpuaas', host: 'linux' });
  const unit = readFileSync(at('etc/systemd/system/gpuaas-node-agent.service'), 'utf8');
  expect(unit).toContain('ExecStart=/usr/bin/node /opt/gpuaas/node-agent/src/main.ts\n');
  for (const line of ['NoNewPrivileges=yes', 'ProtectSystem=yes', 'KillMode=process', 'UMask=0077']) {
    expect(unit).toContain(`${line}\n`);
  }
  expect(unit + printed).not.toContain(TOKEN);
  expect(ran.at(-1)).toBe('systemctl restart gpuaas-node-agent.service');
});

it('writes a unit that systemd understands (needs systemd-analyze)', async (ctx) => {
  if (!existsSync('/usr/bin/systemd-analyze')) ctx.skip('needs systemd-analyze');
  await install(options({ command: [process.execPath, import.meta.filename] }), run, print);
  const unit = at('etc/systemd/system/gpuaas-node-agent.service');
  const verdict = await new Promise<string>((resolve) => {
    execFile('/usr/bin/systemd-analyze', ['verify', '--man=no', unit], (error, stdout, stderr) =>
      resolve(`${error ? `code ${String(error.code)}: ` : ''}${stdout}${stderr}`),
    );
  });
  const ours = verdict.split('\n').filter((line) => line.includes('gpuaas-node-agent'));
  expect(ours).toEqual([]);
  expect(verdict).not.toMatch(/^code/);
});

it('starts the agent from any folder', async () => {
  await install(options({ command: ['/opt/my "new" node/bin', '/srv/100% $HOME/main.ts'] }), run, print);
  const unit = readFileSync(at('etc/systemd/system/gpuaas-node-agent.service'), 'utf8');
  const quoted = String.raw`ExecStart="/opt/my \"new\" node/bin" "/srv/100%% $$HOME/main.ts"`;
  expect(unit).toContain(`${quoted}\n`);
});

it('a dry run shows everything but the secret and touches nothing', async () => {
  await install(options({ dryRun: true, isRoot: false }), run, print);
  expect(readdirSync(root)).toEqual([]);
  expect(ran).toEqual([]);
  expect(printed).toContain('GPUAAS_AGENT_SERVER=https://gpuaas.example:8443');
  expect(printed).toContain('run systemctl enable gpuaas-node-agent.service');
  expect(printed).not.toContain('ssss');
});

it.each([
  [{ isRoot: false }, 'needs root'],
  [{ server: 'http://gpuaas.example' }, 'https URL'],
  [{ hostname: 'gpu 01; reboot' }, 'not a host name'],
  [{ token: null }, 'not enrolled'],
  [{ token: 'gpe_short' }, 'malformed'],
])('refuses %o', async (change, reason) => {
  await expect(install(options(change), run, print)).rejects.toThrow(reason);
  expect(readdirSync(root)).toEqual([]);
});

it('updates an enrolled host without a token', async () => {
  mkdirSync(at('var/lib/gpuaas'), { recursive: true });
  writeFileSync(at('var/lib/gpuaas/identity.json'), '{}');
  await install(options({ token: null }), run, print);
  expect(existsSync(at('var/lib/gpuaas/enrolment-token'))).toBe(false);
});

it('uninstall keeps the state; purge is refused while a slot is leased', async () => {
  await install(options(), run, print);
  mkdirSync(at('var/lib/gpuaas/node-scheduler/leases'), { recursive: true });
  writeFileSync(at('var/lib/gpuaas/node-scheduler/leases/a.json'), '{}');
  const gone = { root, dryRun: false, isRoot: true };
  await expect(uninstall({ ...gone, purge: true }, run, print)).rejects.toThrow('drain the host');
  await expect(uninstall({ ...gone, purge: false, isRoot: false }, run, print)).rejects.toThrow('needs root');
  await uninstall({ ...gone, purge: false }, run, print);
  expect(existsSync(at('etc/systemd/system/gpuaas-node-agent.service'))).toBe(false);
  expect(existsSync(at('var/lib/gpuaas/node-scheduler/leases/a.json'))).toBe(true);
  await rm(at('var/lib/gpuaas/node-scheduler'), { recursive: true });
  await uninstall({ ...gone, purge: true }, run, print);
  expect(existsSync(at('var/lib/gpuaas'))).toBe(false);
});

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

function cli(...args: string[]): Promise<Ended> {
  const main = fileURLToPath(new URL('../cli.ts', import.meta.url));
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], (error, stdout, stderr) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stdout, stderr }),
    );
  });
}

it('doctor lists missing prerequisites, as text and as JSON', async () => {
  const people = await cli('doctor', '--root', root);
  expect(people.code).toBe(1);
  expect(people.stdout).toMatch(/MISS\s+iommu .*\n\s+→ Enable VT-d/);
  expect(people.stdout).toContain('not ready for slices');
  const programs = await cli('doctor', '--json', '--root', root);
  expect(programs.code).toBe(1);
  expect(JSON.parse(programs.stdout)).toMatchObject({ ready: false, identity_problem: null });
});

it('doctor shows the agent’s identity problem', async () => {
  mkdirSync(at('var/lib/gpuaas'), { recursive: true });
  writeFileSync(
    at('var/lib/gpuaas/identity-problem.json'),
    '{"code":"certificate_refused","advice":"mint a token"}',
  );
  expect((await cli('doctor', '--root', root)).stdout).toContain('mint a token');
});

it('an unknown command or option is a usage error', async () => {
  expect((await cli('dance')).code).toBe(2);
  expect((await cli('doctor', '--loud')).code).toBe(2);
});
