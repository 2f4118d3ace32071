import type { TaskKind } from '@gpuaas/contracts/tasks';
import type { Stage } from './progress-reporter.ts';

/** The stages of each kind of task, in their order. A handler can enter no other, and an agent is killed at each in tests. */
export const TASK_STAGES = {
  'allocation.deprovision_user': ['stop', 'user', 'verify'],
  'allocation.provision_user': ['plan', 'user', 'readiness'],
  'node.set_mode': ['mode'],
  'slice.ingress_set': ['network'],
  'slice.prereq_check': ['check'],
  'slice.reconcile': ['check'],
  'slice.topology_discover': ['discover'],
  'slice.vm_provision': ['plan', 'image', 'seed', 'vm', 'network', 'readiness'],
  'slice.vm_release': ['stop', 'network_cleanup', 'wipe', 'verify'],
} as const satisfies Record<TaskKind, readonly [Stage, ...Stage[]]>;

export type StageOf<K extends TaskKind> = (typeof TASK_STAGES)[K][number];
