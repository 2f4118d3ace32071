import type { TaskStage } from '@gpuaas/contracts/generated/stages.ts';
import { taskKinds, type TaskSubjectType } from '@gpuaas/contracts/task-kinds';
import { isTaskKind, type TaskKind, type TaskOutput, type TaskParams } from '@gpuaas/contracts/tasks';
import type { Tx } from '../../platform/db/database.ts';
import type { Sealer } from '../../platform/keys/seal.ts';
import type { Services } from '../../platform/services.ts';

export interface TaskSubject {
  type: TaskSubjectType;
  id: string;
}

/** One step that a host reported. */
export interface StageReport {
  stage: TaskStage;
  percent: number;
}

/** Records the progress of a task for its subject. */
export type ProgressSink = (
  tx: Tx,
  task: { kind: string; subjectId: string; correlationId: string },
  steps: readonly StageReport[],
) => Promise<void>;

/** Decrypts parameters that are not stored with the task, for the host that claims it. */
export type SecretSource = (
  sealer: Pick<Sealer, 'open'>,
  tx: Tx,
  subjectId: string,
) => Promise<Record<string, unknown>>;

/** Services that tasks need from domains above them; a role provides them. */
export interface TaskSinks {
  progress: Record<'allocation_timeline', ProgressSink>;
  secrets: Record<'allocation_user_data', SecretSource>;
}

export interface TaskServices extends Services {
  taskSinks: TaskSinks;
}

/**
 * Rules of a kind beyond its schema. Subject and serial line are in the contract, because the agent reads
 * them too.
 */
interface KindRules<K extends TaskKind> {
  progress?: keyof TaskSinks['progress'];
  secrets?: keyof TaskSinks['secrets'];
  /** Why an output that fits its schema is still refused; null if it is accepted. */
  refuseOutput?(params: TaskParams[K], output: TaskOutput[K]): string | null;
}

const kindRules: { readonly [K in TaskKind]: KindRules<K> } = {
  'allocation.deprovision_user': { progress: 'allocation_timeline' },
  'allocation.provision_user': {
    progress: 'allocation_timeline',
    refuseOutput({ root = false }, { privileged }) {
      if (privileged === root) return null;
      return root ? 'The user did not get root.' : 'The user could become root.';
    },
  },
  'node.set_mode': {},
  'slice.ingress_set': { progress: 'allocation_timeline' },
  'slice.prereq_check': {},
  'slice.reconcile': {},
  'slice.topology_discover': {},
  'slice.vm_provision': { progress: 'allocation_timeline', secrets: 'allocation_user_data' },
  'slice.vm_release': { progress: 'allocation_timeline' },
};

/** Rules of a stored task. A kind that this release does not know has none. */
export function rulesOf(kind: string): KindRules<TaskKind> {
  return isTaskKind(kind) ? kindRules[kind] : {};
}

/** The subject of a new task: its host, unless the kind is about another subject, which must then be given. */
export function subjectOf(
  kind: TaskKind,
  { nodeId, subject }: { nodeId: string; subject?: TaskSubject },
): TaskSubject {
  const found = subject ?? { type: 'node', id: nodeId };
  const { subject: type } = taskKinds[kind];
  if (found.type !== type) throw new Error(`a task ${kind} is about a subject of type ${type}`);
  return found;
}
