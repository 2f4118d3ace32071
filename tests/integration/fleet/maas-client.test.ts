import { ADMIN, startMaasServer, USER, type MaasServer } from '@gpuaas/lab/maas/maas-server';
import { STATUS, STATUS_NAMES, type Status } from '@gpuaas/lab/maas/statuses';
import { authorization, parseApiKey } from '@gpuaas/control-plane/platform/maas/api-key';
import { MaasClient } from '@gpuaas/control-plane/platform/maas/maas-client';
import { isBusy, isFailed, parseMachineStatus } from '@gpuaas/control-plane/platform/maas/machine-status';
import { manualClock, systemClock } from '@gpuaas/control-plane/platform/clock';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../harness/eventually.ts';

let maas: MaasServer;
let client: MaasClient;
let deployed: string[];
beforeEach(async () => {
  deployed = [];
  maas = await startMaasServer({
    scripts: ['gpuaas-preflight'],
    onDeployed: ({ hostname, userData }) => void deployed.push(`${hostname} ran ${userData}`),
  });
  client = clientOf(maas.url, ADMIN.apiKey);
});
afterEach(() => maas.stop());

function clientOf(url: string, apiKey: string, clock = systemClock): MaasClient {
  return new MaasClient({ url: new URL(url), key: parseApiKey(apiKey)!, ca: null }, clock);
}

async function comesTo(systemId: string, status: string): Promise<void> {
  await eventually(`${systemId} to be ${status}`, async () =>
    (await client.machine(systemId)).status === status ? true : null,
  );
}

describe('a signature', () => {
  it('of our user is accepted, with or without a slash at the end of the address', async () => {
    expect(await client.whoAmI()).toBe('gpuaas');
    expect(await clientOf(`${maas.url}/`, ADMIN.apiKey).whoAmI()).toBe('gpuaas');
  });

  it.each([
    ['of nobody', 'nobody:T0ken:S3cret', 'Invalid API key'],
    ['with another token', 'Cons0mer:Token:S3cret', 'Invalid access token'],
    ['with another secret', 'Cons0mer:T0ken:Secret', 'Invalid signature'],
  ])('%s is refused', async (_, apiKey, reason) => {
    const refused = clientOf(maas.url, apiKey).whoAmI();
    await expect(refused).rejects.toMatchObject({ trouble: 'unauthorized' });
    await expect(refused).rejects.toThrow(reason);
  });

  it('of a clock that is off by more than five minutes is refused', async () => {
    const late = manualClock(new Date(Date.now() - 301_000));
    await expect(clientOf(maas.url, ADMIN.apiKey, late).whoAmI()).rejects.toThrow('Expired timestamp');
  });

  it('is taken once', async () => {
    const headers = { authorization: authorization(parseApiKey(ADMIN.apiKey)!, systemClock) };
    const ask = () => fetch(`${maas.url}/api/2.0/users/?op=whoami`, { headers });
    expect((await ask()).status).toBe(200);
    const again = await ask();
    expect(again.status).toBe(401);
    expect(await again.text()).toContain('Nonce already used');
  });
});

describe('a machine', () => {
  it('goes from new to deployed with our user-data, and back with erased disks', async () => {
    const machine = maas.add({ systemId: 'abc123', hostname: 'gpu-01' });
    await client.tag('abc123', 'gpuaas-profile-slice-vm');
    await client.tag('abc123', 'gpuaas-profile-slice-vm');
    const before = await client.machine('abc123');
    expect(before).toMatchObject({
      hostname: 'gpu-01',
      status: 'new',
      owner: null,
      tags: ['gpuaas-profile-slice-vm'],
      product: 'DGXH200',
      commissioningSet: null,
    });
    const commissioning = await client.commission('abc123', {
      commissioningScripts: ['gpuaas-preflight'],
      testingScripts: [],
    });
    expect(commissioning.status).toBe('commissioning');
    expect(commissioning.commissioningSet).not.toBeNull();
    await comesTo('abc123', 'ready');
    expect(await client.results('abc123', 'commissioning')).toContainEqual({
      name: 'gpuaas-preflight',
      status: 'Passed',
      exitStatus: 0,
    });
    expect((await client.test('abc123')).status).toBe('testing');
    await comesTo('abc123', 'ready');
    expect(await client.allocate('abc123')).toMatchObject({ status: 'allocated', owner: 'gpuaas' });
    const userData = '#!/bin/sh\necho "größe ~?>"\n';
    await client.deploy('abc123', { userData, distroSeries: 'noble' });
    await comesTo('abc123', 'deployed');
    expect(deployed).toEqual([`gpu-01 ran ${userData}`]);
    expect(await client.queryPower('abc123')).toBe('on');
    expect((await client.release('abc123', { secureErase: true }, 'lease over')).status).toBe('disk_erasing');
    await comesTo('abc123', 'ready');
    expect(machine.erasures).toEqual(['secure']);
    expect(machine.disks).toEqual([]);
    expect(await client.machine('abc123')).toMatchObject({ owner: null, powerState: 'off' });
    await client.untag('abc123', 'gpuaas-profile-slice-vm');
    await client.untag('abc123', 'no-such-tag');
    expect((await client.machines()).map(({ tags }) => tags)).toEqual([[]]);
  });

  it('is switched off and on', async () => {
    maas.add({ systemId: 'abc123', hostname: 'gpu-01', status: STATUS.DEPLOYED });
    await client.powerOn('abc123');
    expect(await client.queryPower('abc123')).toBe('on');
    await client.powerOff('abc123', 'hard');
    expect(await client.queryPower('abc123')).toBe('off');
  });

  it('that is stopped in the middle rests where MAAS leaves it', async () => {
    const machine = maas.add({ systemId: 'abc123', hostname: 'gpu-01' });
    machine.faults.add('never ends');
    await client.commission('abc123');
    expect((await client.abort('abc123', 'cancelled')).status).toBe('new');
    await expect(client.abort('abc123', 'cancelled')).rejects.toMatchObject({ trouble: 'conflict' });
  });

  it.each([
    ['commissioning fails', 'commission', 'failed_commissioning'],
    ['testing fails', 'test', 'failed_testing'],
  ] as const)('whose %s says so in its results', async (fault, operation, status) => {
    const machine = maas.add({ systemId: 'abc123', hostname: 'gpu-01', status: STATUS.READY });
    machine.faults.add(fault);
    await client[operation]('abc123');
    await comesTo('abc123', status);
    const results = await client.results('abc123', operation === 'test' ? 'testing' : 'commissioning');
    expect(results[0]).toMatchObject({ status: 'Failed', exitStatus: 1 });
  });
});

describe('a refusal', () => {
  const userData = '#!/bin/sh\n';

  it('says whether another try helps', async () => {
    maas.add({ systemId: 'new', hostname: 'gpu-01' });
    const full = maas.add({ systemId: 'full', hostname: 'gpu-02', status: STATUS.READY });
    full.faults.add('no address');
    maas.add({ systemId: 'theirs', hostname: 'gpu-03', status: STATUS.ALLOCATED }).owner = 'gpuaas';
    const other = clientOf(maas.url, USER.apiKey);
    const deployment = { userData, distroSeries: null };
    const cases: [() => Promise<unknown>, string, string][] = [
      [() => client.machine('none'), 'not_found', 'No Machine matches the given query'],
      [() => client.allocate('new'), 'conflict', 'No available machine matches'],
      [() => client.deploy('new', deployment), 'conflict', `in the 'New' state`],
      [() => client.deploy('full', deployment), 'unavailable', 'address exhaustion'],
      [() => client.release('new', null, ''), 'conflict', 'cannot be released in its current state'],
      [() => client.test('new'), 'invalid', '__all__: Test is not available because of the current state'],
      [
        () => client.commission('full', { testingScripts: ['no-such'] }),
        'invalid',
        'not one of the available',
      ],
      [() => other.commission('new'), 'forbidden', 'Forbidden'],
      [() => other.tag('new', 'virtual'), 'forbidden', 'superuser'],
      [() => other.release('theirs', null, ''), 'forbidden', 'Forbidden'],
    ];
    for (const [ask, trouble, words] of cases) {
      await expect(ask(), words).rejects.toMatchObject({
        name: 'MaasError',
        trouble,
        message: expect.stringContaining(words),
      });
    }
  });

  it('of a MAAS that is not there, or loses its answer, is worth another try', async () => {
    maas.add({ systemId: 'abc123', hostname: 'gpu-01' });
    maas.faults.push('unavailable', 'lose answer');
    await expect(client.commission('abc123')).rejects.toMatchObject({ trouble: 'unavailable' });
    await expect(client.commission('abc123')).rejects.toMatchObject({ trouble: 'unavailable' });
    // The second was done nevertheless, which is why a retry reads the state first.
    expect((await client.machine('abc123')).commissioningSet).not.toBeNull();
    const { url } = maas;
    await maas.stop();
    await expect(clientOf(url, ADMIN.apiKey).whoAmI()).rejects.toMatchObject({ trouble: 'unavailable' });
    maas = await startMaasServer();
  });

  it('of an address without MAAS is distinguished', async () => {
    const elsewhere = clientOf(maas.url.replace('/MAAS', '/other'), ADMIN.apiKey);
    await expect(elsewhere.machines()).rejects.toMatchObject({ trouble: 'not_found' });
  });
});

it('the client knows every state by the number that MAAS gives it', () => {
  const words = (name: string): string => name.toLowerCase().replaceAll(' ', '_');
  for (const [number, name] of Object.entries(STATUS_NAMES)) {
    const expected = name === 'Releasing failed' ? 'failed_releasing' : words(name);
    expect(parseMachineStatus(Number(number) as Status)).toBe(expected);
  }
  expect(parseMachineStatus(99)).toBe('unknown');
  expect([isBusy('deploying'), isBusy('ready'), isFailed('broken'), isFailed('unknown')]).toEqual([
    true,
    false,
    true,
    false,
  ]);
});
