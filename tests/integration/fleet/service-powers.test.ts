import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DHCP_UNIT, desiredFiles } from '@gpuaas/node-agent/commands/bootstrap/desired-files';
import { SERVICE, unitFile } from '@gpuaas/node-agent/commands/service-files';
import { NETWORK_PROFILES } from '@gpuaas/node-agent/host/linux/network/profiles';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { settingsOf, withServiceCapabilities } from '../../harness/fleet/service-powers.ts';
import { whyNoServicePowers } from '../../harness/fleet/vm-lab-needs.ts';

const obstacle = whyNoServicePowers();
/** Tenths of systemd's figure for how much a service could do; it was 5.3 when the agent's was written. */
const EXPOSURE = 55;

describe.skipIf(obstacle !== null)(`the service of the agent (${obstacle ?? 'needs nothing more'})`, () => {
  let folder: string;
  let file: string;
  const unit = unitFile([process.execPath, '/opt/a folder/main.ts']);
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'gpuaas-unit-'));
    file = join(folder, SERVICE);
    writeFileSync(file, unit);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('is a unit in which systemd knows every word', () => {
    const words = ['verify', '--man=no', '--recursive-errors=no', file];
    const { status, stderr } = spawnSync('systemd-analyze', words, { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('has a server of addresses beside it, whose unit systemd knows as well', () => {
    const wanted = desiredFiles({
      hugepagesGib: 1,
      bridge: 'ovsbr0',
      gateway: '10.1.2.1',
      vfioIds: [],
      ipoib: [],
      infiniband: false,
      hostDisks: [],
      processor: 'amd',
      network: NETWORK_PROFILES.throughput,
    });
    const unitOf = wanted.find(({ path }) => path.endsWith(DHCP_UNIT))!;
    const place = join(folder, DHCP_UNIT);
    writeFileSync(place, unitOf.content);
    const { stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', '--recursive-errors=no', place], {
      encoding: 'utf8',
    });
    // Its executable may not be installed here; every other word counts.
    expect(
      stderr.split('\n').filter((line) => line !== '' && !/is not executable|not found/.test(line)),
    ).toEqual([]);
  });

  it('could do no more than systemd last counted', () => {
    execFileSync('systemd-analyze', [
      'security',
      '--offline=yes',
      `--threshold=${EXPOSURE}`,
      '--no-pager',
      file,
    ]);
  });

  it.each([
    ['load modules', ['perl', '-e', 'exit(syscall(175, 0, 0, 0) == 0)'], 0],
    ['leave its namespaces', ['unshare', '--mount', 'true'], 1],
    ['read the kernel’s own log', ['dmesg'], 1],
    ['make a program that runs as root', ['sh', '-c', 'f=$(mktemp); chmod 4755 $f; e=$?; rm $f; exit $e'], 1],
    ['change the name of the host', ['hostname', 'another'], 1],
  ])('cannot %s', (_what, command, code) => {
    expect(run(command).status).toBe(code);
  });

  it('creates files that no other user can read', () => {
    expect(run(['sh', '-c', 'umask']).stdout.trim()).toBe('0077');
    expect(run(['sh', '-c', 'd=$(mktemp -d) && chmod 755 $d && rmdir $d']).status).toBe(0);
  });

  it('has exactly its capabilities, and gains none by a program that would give more', () => {
    const said = run(['grep', '-E', 'CapEff|NoNewPrivs|Seccomp:', '/proc/self/status']).stdout;
    const bits = /CapEff:\s+([0-9a-f]+)/.exec(said)?.[1] ?? '';
    const names = execFileSync('setpriv', ['--list-caps'], { encoding: 'utf8' }).trim().split('\n');
    const held = names.filter((_name, bit) => (BigInt(`0x${bits}`) >> BigInt(bit)) & 1n);
    const granted = (settingsOf(unit).get('CapabilityBoundingSet') ?? '').split(' ');
    expect(held.map((name) => `CAP_${name.toUpperCase()}`).toSorted()).toEqual(granted.toSorted());
    expect(said).toMatch(/NoNewPrivs:\s+1/);
    expect(said).toMatch(/Seccomp:\s+2/);
  });
});

function run(command: readonly string[]) {
  const [limit = '', ...words] = withServiceCapabilities();
  return spawnSync(limit, [...words, ...command], { encoding: 'utf8' });
}
