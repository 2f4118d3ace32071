import type { TaskKind } from '../generated/tasks.ts';

/** What a task is about. */
export type TaskSubjectType = 'node' | 'allocation';

interface SharedKind {
  subject: TaskSubjectType;
  /** Tasks of one line about one subject run one after the other on a host. Other lines never wait for them. */
  line: string;
}

/**
 * What platform and agent both know of each kind. Only what builds or removes a machine shares its line: a long task of any
 * other kind must not hold up the release of its allocation.
 */
export const taskKinds = {
  'allocation.deprovision_user': { subject: 'allocation', line: 'machine' },
  'allocation.provision_user': { subject: 'allocation', line: 'machine' },
  'node.set_mode': { subject: 'node', line: 'mode' },
  'slice.ingress_set': { subject: 'allocation', line: 'ingress' },
  'slice.prereq_check': { subject: 'node', line: 'prerequisites' },
  'slice.reconcile': { subject: 'node', line: 'reconciliation' },
  'slice.topology_discover': { subject: 'node', line: 'topology' },
  'slice.vm_provision': { subject: 'allocation', line: 'machine' },
  'slice.vm_release': { subject: 'allocation', line: 'machine' },
} as const satisfies Record<TaskKind, SharedKind>;

/** Tasks with the same key run one after the other, in the order they came. */
export function serialKey(kind: TaskKind, subjectId: string): string {
  return `${taskKinds[kind].line} ${subjectId}`;
}
