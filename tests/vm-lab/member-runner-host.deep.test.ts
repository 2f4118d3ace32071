import { describe } from 'vitest';
import { testMemberRunner } from '../harness/apps/member-runner-suite.ts';
import { machinePlace } from '../harness/apps/platform-place.ts';
import { whyNoVmLab } from '../harness/fleet/vm-lab-needs.ts';
import { openWholeHost } from './lab-machines.ts';

const obstacle = whyNoVmLab();

describe.skipIf(obstacle !== null)(obstacle ?? 'on a real host', () => {
  testMemberRunner('as the user of a whole host', async () => {
    const { platform, allocationId, close } = await openWholeHost();
    const place = machinePlace(platform, allocationId, {
      listen: (port) => ['busybox', 'nc', '-ll', '-p', String(port), '-e', 'cat'],
      disk: null,
    });
    return { ...place, close };
  });
});
