import type { PrereqRequirements } from '../../host.ts';
import { missing, ok, unknown, warning, type PrereqFinding } from '../../prereq-report.ts';
import type { HostFiles } from '../host-files.ts';
import type { HostDevices } from '../inventory/inventory.ts';

const OVMF = ['/usr/share/OVMF', '/usr/share/edk2/ovmf', '/usr/share/qemu'];
const SECURE_BOOT = '/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c';

/** The host boots by UEFI, and guests have a UEFI firmware: large GPU memory windows need it. */
export function checkUefi(files: HostFiles): PrereqFinding {
  if (!files.exists('/sys/firmware/efi')) {
    return missing(
      'the host was not booted by UEFI',
      'Set the firmware to UEFI boot and reinstall the host in UEFI mode.',
    );
  }
  const firmware = OVMF.flatMap((folder) =>
    files
      .list(folder)
      .filter((name) => /(OVMF|edk2-x86_64).*(CODE|code).*\.fd$/.test(name))
      .map((name) => `${folder}/${name}`),
  );
  return firmware[0]
    ? ok(`booted by UEFI; guest firmware ${firmware[0]}`)
    : missing(
        'booted by UEFI, but there is no OVMF firmware for guests',
        'Install the package ovmf (edk2-ovmf).',
      );
}

export function checkSecureBoot(files: HostFiles, demand: PrereqRequirements): PrereqFinding {
  // Four bytes of attributes, then the value.
  const value = files.bytes(SECURE_BOOT, 5)?.at(4);
  if (value === 0) return ok('Secure Boot is off');
  if (value === undefined) {
    const evidence = 'the variable SecureBoot of the firmware cannot be read';
    const remedy = 'Mount efivarfs on /sys/firmware/efi/efivars.';
    return demand.secure_boot_disabled ? unknown(evidence, remedy) : warning(evidence, remedy);
  }
  const remedy = 'Switch Secure Boot off in the firmware, or sign the modules that the profile loads.';
  return demand.secure_boot_disabled
    ? missing('Secure Boot is on and the profile needs it off', remedy)
    : warning('Secure Boot is on: unsigned modules will not load', remedy);
}

export function checkIommu(files: HostFiles): PrereqFinding {
  const groups = files.list('/sys/kernel/iommu_groups').length;
  const asked = iommuParameter(files.text('/proc/cmdline') ?? '');
  if (groups > 0) return ok(`${groups} IOMMU groups${asked ? ` (${asked})` : ''}`);
  return asked
    ? missing(
        `the kernel was given ${asked}, but there are no IOMMU groups`,
        'Enable VT-d (AMD-Vi) in the firmware.',
      )
    : missing(
        'there are no IOMMU groups, and the kernel command line does not ask for them',
        'Enable VT-d (AMD-Vi) in the firmware, add "intel_iommu=on iommu=pt" (AMD: "iommu=pt") to the kernel command line, reboot.',
      );
}

export function iommuParameter(commandLine: string): string | null {
  return /\b(?:intel_iommu|amd_iommu)=on\b|\biommu=pt\b/.exec(commandLine)?.[0] ?? null;
}

/** Every GPU and every virtual function is bound so that a machine can have it. */
export function checkVfio(files: HostFiles, { gpus, fabrics }: HostDevices): PrereqFinding {
  if (!files.exists('/sys/bus/pci/drivers/vfio-pci')) {
    return missing(
      'the driver vfio-pci is not loaded',
      'Run "modprobe vfio-pci" and name it in /etc/modules-load.d/vfio-pci.conf.',
    );
  }
  const sellable = gpus.map(({ device }) => device).filter((device) => device.known?.role === 'gpu');
  if (sellable.length === 0)
    return missing('there is no GPU that we know', 'Check the GPUs and the PCI bus.');
  const functions = fabrics.flatMap((fabric) => fabric.functions.map(({ device }) => device));
  const other = [...sellable, ...functions].filter((device) => device.driver !== 'vfio-pci');
  if (other.length === 0) {
    return ok(`${sellable.length} GPUs and ${functions.length} virtual functions are bound to vfio-pci`);
  }
  const ids = [...new Set(other.map((device) => device.id))].join(',');
  return missing(
    `not bound to vfio-pci: ${other.map((device) => `${device.address} (${device.driver ?? 'no driver'})`).join(', ')}`,
    `Put "options vfio-pci ids=${ids}" into /etc/modprobe.d/vfio.conf, keep the vendor's driver from loading, update the initramfs, reboot.`,
  );
}

export function checkSriov({ fabrics }: HostDevices): PrereqFinding {
  if (fabrics.length === 0) {
    return missing(
      'there is no InfiniBand or RoCE adapter that we know',
      'Install adapters, or check the PCI bus.',
    );
  }
  const without = fabrics.filter(({ functions }) => functions.length === 0);
  const evidence = `${fabrics.length - without.length} of ${fabrics.length} adapters have virtual functions`;
  if (without.length === 0) return ok(evidence);
  const off = without.filter(({ pf }) => pf.sriovTotal === 0).map(({ pf }) => pf.address);
  return missing(
    `${evidence}; without: ${without.map(({ pf }) => pf.address).join(', ')}`,
    off.length > 0
      ? `Set SRIOV_EN=1 NUM_OF_VFS=8 with mlxconfig on ${off.join(', ')} and power-cycle the host.`
      : 'Write the number of functions into sriov_numvfs of each adapter, at every boot.',
  );
}
