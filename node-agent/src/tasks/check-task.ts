import { createPublicKey } from 'node:crypto';
import { verifyCanonical } from '@gpuaas/contracts/signing';
import {
  isTaskKind,
  knownParams,
  parseTaskParams,
  type TaskKind,
  type TaskParams,
} from '@gpuaas/contracts/tasks';
import type { SignedTask, TaskRefusalReport } from '../control-plane.ts';
import { errorMessage } from '../logger.ts';

export type Task = SignedTask['task'];

export type ValidatedTask = {
  [K in TaskKind]: { task: Task; kind: K; params: TaskParams[K] };
}[TaskKind];

export type TaskRefusal = TaskRefusalReport['code'];

export type CheckResult<T> = { ok: true; value: T } | { ok: false; code: TaskRefusal; detail: string };

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Verifies sender and recipient: until this passes, no field of the task may be trusted. */
export function verifyOrigin(signed: SignedTask, nodeId: string, signingKeyPem: string): CheckResult<Task> {
  const { task, signature } = signed;
  if (!hasValidSignature(task, signature, signingKeyPem) || !UUID.test(task.task_id)) {
    return refuse('signature_invalid', 'the task is not signed with the pinned key');
  }
  if (task.node_id !== nodeId) return refuse('wrong_node', `the task is for node ${task.node_id}`);
  return { ok: true, value: task };
}

/** Decides whether a task of proven origin may run here and now. */
export function validateContent(task: Task, now: Date): CheckResult<ValidatedTask> {
  // A date that cannot be parsed compares false and is refused.
  if (!(Date.parse(task.expires_at) > now.getTime())) {
    return refuse('task_expired', `the task expired at ${task.expires_at}`);
  }
  if (!isTaskKind(task.kind))
    return refuse('kind_unknown', `this agent does not know tasks of kind ${task.kind}`);
  try {
    const known = knownParams(task.kind, task.params, task.ignorable ?? []);
    const params = parseTaskParams(task.kind, known);
    return { ok: true, value: { task, kind: task.kind, params } as ValidatedTask };
  } catch (error) {
    return refuse('params_invalid', errorMessage(error));
  }
}

function hasValidSignature(task: Task, signature: string, signingKeyPem: string): boolean {
  try {
    return verifyCanonical(task, signature, createPublicKey(signingKeyPem));
  } catch {
    return false;
  }
}

function refuse(code: TaskRefusal, detail: string): { ok: false; code: TaskRefusal; detail: string } {
  return { ok: false, code, detail };
}
