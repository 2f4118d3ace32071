import type { CandidateSlot } from '@gpuaas/contracts/tasks';
import type { DeviceReset, WipeProof } from '@gpuaas/node-agent/host/host';

export interface SeenDevice {
  role: 'gpu' | 'adapter' | 'function';
  address: string;
  driver: string | null;
}

/** What the driver did inside the emulated node, and what the kernel there showed afterwards. */
export type NodeReport =
  | {
      boot: 'first';
      candidate: CandidateSlot;
      leftOut: string[];
      evidence: string;
      bound: SeenDevice[];
      vfioGroups: number;
      reset: DeviceReset | null;
      wipe: {
        before: WipeProof;
        after: WipeProof;
        dirtied: WipeProof;
        formatted: WipeProof;
        /** `done`, or why not. */
        sanitize: string;
      };
      /** What the kernel answers to what the tests' own kernel refuses as well. */
      refusals: { otherNumber: string; adapterToVfio: string };
    }
  | { boot: 'second'; found: SeenDevice[]; restored: SeenDevice[]; evidence: string; returned: SeenDevice[] };
