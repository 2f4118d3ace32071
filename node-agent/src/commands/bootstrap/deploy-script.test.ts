import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const SCRIPT = fileURLToPath(new URL('../../../ops/gpuaas_slice_host_deploy_bootstrap.sh', import.meta.url));

/** The script beside an agent that prints its calls; the firmware tool is missing where `firmware` is false. */
function deploy(args: string[], token: string, { firmware = true, reboot = false } = {}) {
  const agent = `gpuaas-node-agent() {
    echo "agent $* with \${GPUAAS_AGENT_TOKEN:-no token}" >&2
    if [ "$1" = bootstrap ]; then echo 'reboot_required: ${reboot ? 'yes' : 'no'}'; fi
    if [ "$1" = firmware ]; then ${firmware}; fi
  }
  export -f gpuaas-node-agent`;
  const run = spawnSync('bash', ['-c', `${agent}\n"$0" "$@"`, SCRIPT, ...args], {
    encoding: 'utf8',
    env: { ...process.env, GPUAAS_AGENT_TOKEN: token },
  });
  return {
    code: run.status,
    calls: run.stderr.split('\n').filter((line) => line.startsWith('agent')),
    ...run,
  };
}

const SERVER = ['--server', 'https://gpuaas.example:8443', '--hostname', 'gpu-1'];

it('prints the plan and changes nothing without --apply', () => {
  const { code, calls } = deploy(['--hostname', 'gpu-1', '--hugepages-gib', '960'], '');
  expect(code).toBe(0);
  expect(calls).toEqual([
    'agent firmware --profile slice-vm with no token',
    'agent bootstrap --hostname gpu-1 --hugepages-gib 960 with no token',
  ]);
});

it('sets up firmware and host, enrols with the token in the environment alone, and says that a reboot is due', () => {
  const { code, calls, stdout } = deploy([...SERVER, '--apply'], 'gpe_1', { firmware: false, reboot: true });
  expect(code).toBe(0);
  expect(calls).toEqual([
    'agent firmware --profile slice-vm --apply with no token',
    'agent bootstrap --hostname gpu-1 --hugepages-gib 0 --apply with no token',
    'agent install --server https://gpuaas.example:8443 --hostname gpu-1 with gpe_1',
    'agent bootstrap --hostname gpu-1 --hugepages-gib 0 with no token',
  ]);
  expect(stdout).toContain('Reboot this host');
});

it.each([
  ['no server', ['--apply'], 'gpe_1', 'usage'],
  ['no token', [...SERVER, '--apply'], '', 'no enrolment token'],
  ['an unknown option', ['--force'], 'gpe_1', 'usage'],
])('refuses %s before it changes anything', (_, args, token, message) => {
  const { code, calls, stderr } = deploy(args, token);
  expect([code, calls]).toEqual([2, []]);
  expect(stderr).toContain(message);
});
