import type { PrereqRequirements, PrereqReport } from '../../host.ts';
import { prereqReport } from '../../prereq-report.ts';
import type { RunCommand } from '../commands.ts';
import type { HostFiles } from '../host-files.ts';
import { readHostDevices } from '../inventory/inventory.ts';
import { checkIommu, checkSecureBoot, checkUefi, checkVfio, checkSriov } from './check-firmware.ts';
import { readLinuxSettings, type LinuxSettings } from '../settings.ts';
import { checkHugepages, checkImageCache, checkRebootRequired } from './check-host-state.ts';
import { checkCloudInitTools, checkLibvirt, checkOvs, checkRdmaTools } from './check-tools.ts';

/** Checks the machine as it is; every miss names its remedy. */
export async function checkPrerequisites(
  files: HostFiles,
  run: RunCommand,
  demand: PrereqRequirements,
  settings: Pick<LinuxSettings, 'accelerator' | 'bridge'> = readLinuxSettings({}),
): Promise<PrereqReport> {
  const devices = await readHostDevices(files, run);
  return prereqReport(
    {
      uefi: checkUefi(files),
      secure_boot: checkSecureBoot(files, demand),
      iommu: checkIommu(files),
      vfio: checkVfio(files, devices),
      sriov: checkSriov(devices),
      hugepages: checkHugepages(files, demand),
      ovs: await checkOvs(run, demand.ovs_bridge ?? settings.bridge),
      libvirt: await checkLibvirt(files, run, settings.accelerator),
      cloud_init_tools: checkCloudInitTools(files),
      rdma_tools: checkRdmaTools(files),
      image_cache: checkImageCache(files, demand),
      reboot_required: checkRebootRequired(files),
    },
    new Date(),
  );
}
