import type { PrereqRequirements, PrereqReport } from '../host.ts';
import { missing, ok, prereqReport } from '../prereq-report.ts';
import type { HasFault } from './faults.ts';
import type { SimulatedHardware } from './hardware.ts';

const HUGEPAGES_GIB = 1_920;

/** The simulated machine passes unless a fault is set or the profile requires more than it has. */
export function checkSimulatedPrerequisites(
  demand: PrereqRequirements,
  hardware: SimulatedHardware,
  hasFault: HasFault,
): PrereqReport {
  const gpus = hardware.slots.length;
  const hugepages = demand.hugepages_gib ?? 0;
  return prereqReport(
    {
      uefi: ok('/sys/firmware/efi is there'),
      secure_boot: ok('SecureBoot is off'),
      iommu: hasFault('iommu_off')
        ? missing('0 IOMMU groups', 'Add intel_iommu=on iommu=pt to the kernel command line and reboot.')
        : ok(`${gpus * 7 + 24} IOMMU groups`),
      vfio: ok('vfio-pci is loaded'),
      sriov: hasFault('sriov_off')
        ? missing('0 of 8 ports have virtual functions', 'Enable SR-IOV in the adapter firmware and reboot.')
        : ok('8 of 8 ports have virtual functions'),
      hugepages:
        hugepages > HUGEPAGES_GIB
          ? missing(
              `${HUGEPAGES_GIB} GiB of hugepages free, ${hugepages} GiB needed`,
              'Reserve more hugepages.',
            )
          : ok(`${HUGEPAGES_GIB} GiB of hugepages free`),
      ovs: ok(`bridge ${demand.ovs_bridge ?? 'ovsbr0'} is there`),
      libvirt: ok('simulated hypervisor'),
      cloud_init_tools: ok('simulated seed'),
      rdma_tools: ok('simulated fabric'),
      image_cache: ok(`${demand.images?.length ?? 0} wanted images are in the cache`),
      reboot_required: hasFault('reboot_required')
        ? missing(
            'kernel parameters were changed after the last boot',
            'Drain the host and reboot it when it is empty.',
          )
        : ok('nothing waits for a reboot'),
    },
    new Date(),
  );
}
