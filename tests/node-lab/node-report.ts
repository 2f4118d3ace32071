import type { CandidateSlot } from '@gpuaas/contracts/tasks';
import type { DeviceReset, WipeProof } from '@gpuaas/node-agent/host/host';

export interface SeenDevice {
  role: 'gpu' | 'adapter' | 'function';
  address: string;
  driver: string | null;
}

/** Actions of the driver inside the emulated node, and the kernel's state afterwards. */
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
      /** The kernel's answers to requests that the tests' fake kernel refuses as well. */
      refusals: { otherNumber: string; adapterToVfio: string };
    }
  | { boot: 'second'; found: SeenDevice[]; restored: SeenDevice[]; evidence: string; returned: SeenDevice[] };
