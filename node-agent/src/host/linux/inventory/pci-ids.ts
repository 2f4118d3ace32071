/**
 * Devices that we lease or must recognise. The pci.ids of a host's distribution may be older than its
 * hardware.
 */
export type PciRole = 'gpu' | 'nvswitch' | 'fabric' | 'fabric_vf' | 'bluefield' | 'bluefield_dma';

export interface KnownDevice {
  role: PciRole;
  model: string;
  /** Driver when the host itself uses the device; null where that does not matter. */
  driver: string | null;
}

/** One line per device that this release does not know: `vendor:device role model driver`. */
export const EXTRA_DEVICES = '/etc/gpuaas/pci-devices';

const KNOWN: Readonly<Record<string, Omit<KnownDevice, 'driver'>>> = {
  '10de:2335': { role: 'gpu', model: 'H200-SXM-141GB' },
  '10de:233b': { role: 'gpu', model: 'H200-NVL-141GB' },
  '10de:2330': { role: 'gpu', model: 'H100-SXM5-80GB' },
  '10de:2331': { role: 'gpu', model: 'H100-PCIE-80GB' },
  '10de:2901': { role: 'gpu', model: 'B200-SXM-180GB' },
  '10de:20b0': { role: 'gpu', model: 'A100-SXM4-40GB' },
  '10de:20b2': { role: 'gpu', model: 'A100-SXM4-80GB' },
  '10de:20b5': { role: 'gpu', model: 'A100-PCIE-80GB' },
  '10de:26b9': { role: 'gpu', model: 'L40S-48GB' },
  '1002:74a1': { role: 'gpu', model: 'MI300X-192GB' },
  '10de:22a3': { role: 'nvswitch', model: 'NVSwitch-Gen3' },
  '10de:1af1': { role: 'nvswitch', model: 'NVSwitch-Gen2' },
  '15b3:101b': { role: 'fabric', model: 'ConnectX-6' },
  '15b3:1021': { role: 'fabric', model: 'ConnectX-7' },
  '15b3:1023': { role: 'fabric', model: 'ConnectX-8' },
  '15b3:101c': { role: 'fabric_vf', model: 'ConnectX-6-VF' },
  '15b3:101e': { role: 'fabric_vf', model: 'ConnectX-VF' },
  '15b3:a2dc': { role: 'bluefield', model: 'BlueField-3' },
  '15b3:a2da': { role: 'bluefield', model: 'BlueField-3-Crypto' },
  '15b3:a2d9': { role: 'bluefield', model: 'BlueField-3-Lx' },
  '15b3:c2d5': { role: 'bluefield_dma', model: 'BlueField-3-DMA' },
};

const DRIVERS: Readonly<Record<string, string>> = { '10de': 'nvidia', '1002': 'amdgpu', '15b3': 'mlx5_core' };

export function knownDevice(id: string): KnownDevice | null {
  const known = KNOWN[id];
  return known ? { ...known, driver: DRIVERS[id.split(':')[0] ?? ''] ?? null } : null;
}

/** Devices that an administrator listed; unreadable lines are skipped. */
export function parseExtraDevices(text: string): ReadonlyMap<string, KnownDevice> {
  const roles: readonly PciRole[] = ['gpu', 'nvswitch', 'fabric', 'fabric_vf', 'bluefield', 'bluefield_dma'];
  return new Map(
    text.split('\n').flatMap((line): [string, KnownDevice][] => {
      const [id = '', named, model = '', driver] = line.replace(/#.*/, '').trim().split(/\s+/);
      const role = roles.find((one) => one === named);
      if (!/^[0-9a-f]{4}:[0-9a-f]{4}$/.test(id) || !role || model === '') return [];
      return [[id, { role, model, driver: driver ?? null }]];
    }),
  );
}
