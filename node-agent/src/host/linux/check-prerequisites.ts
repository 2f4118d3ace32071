import type { PrereqDemand, PrereqReport } from '../host.ts';
import { prereqReport } from '../prereq-report.ts';
import type { RunCommand } from './commands.ts';
import type { HostFiles } from './host-files.ts';
import { readHostDevices } from './inventory.ts';
import { checkIommu, checkSecureBoot, checkUefi, checkVfio, checkSriov } from './prereq-firmware.ts';
import type { LinuxSettings } from './settings.ts';
import { checkHugepages, checkImageCache, checkRebootRequired } from './prereq-state.ts';
import { checkCloudInitTools, checkLibvirt, checkOvs, checkRdmaTools } from './prereq-tools.ts';

/** Looks at the machine as it is; every miss says what would put it right. */
export async function checkPrerequisites(
  files: HostFiles,
  run: RunCommand,
  demand: PrereqDemand,
  accelerator: LinuxSettings['accelerator'] = 'kvm',
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
      ovs: await checkOvs(run, demand),
      libvirt: await checkLibvirt(files, run, accelerator),
      cloud_init_tools: checkCloudInitTools(files),
      rdma_tools: checkRdmaTools(files),
      image_cache: checkImageCache(files, demand),
      reboot_required: checkRebootRequired(files),
    },
    new Date(),
  );
}
