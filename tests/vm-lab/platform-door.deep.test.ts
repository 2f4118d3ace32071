import { describe, it } from 'vitest';
import { whyNoVmLab } from '../harness/fleet/vm-lab-needs.ts';
import { openTinyMachine } from './lab-machines.ts';
import { useDoor } from './use-door.ts';

const obstacle = whyNoVmLab();

describe.skipIf(obstacle !== null)(obstacle ?? 'an instance reaches the platform', () => {
  it('from a real machine, with what its manifest declares, while it lives', () => useDoor(openTinyMachine));
});
