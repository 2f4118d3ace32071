import { expect, it } from 'vitest';
import { LinuxSettingsError, readLinuxSettings } from './settings.ts';

it('slices use the default route, except to link-local addresses, unless configured otherwise', () => {
  expect(readLinuxSettings({})).toMatchObject({ uplink: null, closedNetworks: ['169.254.0.0/16'] });
  const configured = {
    GPUAAS_LINUX_UPLINK: 'enp3s0f0v1',
    GPUAAS_LINUX_CLOSED_NETWORKS: '10.0.0.0/8, 172.16.0.0/12',
  };
  expect(readLinuxSettings(configured)).toMatchObject({
    uplink: 'enp3s0f0v1',
    closedNetworks: ['10.0.0.0/8', '172.16.0.0/12'],
  });
  expect(readLinuxSettings({ GPUAAS_LINUX_CLOSED_NETWORKS: '' }).closedNetworks).toEqual([]);
});

it.each([
  { GPUAAS_LINUX_UPLINK: 'eth0" accept' },
  { GPUAAS_LINUX_UPLINK: 'a-name-that-is-too-long' },
  { GPUAAS_LINUX_CLOSED_NETWORKS: '10.0.0.0' },
  { GPUAAS_LINUX_CLOSED_NETWORKS: '10.0.0.0/33' },
  { GPUAAS_LINUX_CLOSED_NETWORKS: '10.0.0/8' },
  { GPUAAS_LINUX_CLOSED_NETWORKS: '10.0.0.0/8/8' },
  { GPUAAS_LINUX_CLOSED_NETWORKS: 'fd00::/8' },
])('refuses %o by the name of the setting', (env) => {
  expect(() => readLinuxSettings(env)).toThrow(LinuxSettingsError);
  expect(() => readLinuxSettings(env)).toThrow(Object.keys(env)[0]!);
});
