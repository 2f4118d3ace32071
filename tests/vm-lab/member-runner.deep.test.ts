import { describe } from 'vitest';
import { testMemberRunner } from '../harness/apps/member-runner-suite.ts';
import { machinePlace } from '../harness/apps/platform-place.ts';
import { whyNoVmLab } from '../harness/fleet/vm-lab-needs.ts';
import { openTinyMachine } from './lab-machines.ts';

const obstacle = whyNoVmLab();

describe.skipIf(obstacle !== null)(obstacle ?? 'on a real hypervisor', () => {
  testMemberRunner('in a real machine with busybox and dropbear', async () => {
    const { platform, allocationId, close } = await openTinyMachine();
    const place = machinePlace(platform, allocationId, {
      listen: (port) => ['nc', '-ll', '-p', String(port), '-e', 'cat'],
      disk: null,
    });
    return { ...place, close };
  });
});
