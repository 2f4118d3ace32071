import { serialKey } from '@gpuaas/contracts/task-kinds';
import type { TaskKind } from '@gpuaas/contracts/tasks';
import type { ControlPlane, SignedTask } from '../control-plane.ts';
import type { CrashPoint } from '../crash-point.ts';
import type { Logger } from '../logger.ts';
import type { PlatformClock } from '../platform-clock.ts';
import { validateContent, verifyOrigin, type ValidatedTask, type Task } from './check-task.ts';
import { deliverOutcome } from './deliver-outcome.ts';
import type { Journal, JournalEntry } from './journal.ts';
import { createProgressReporter, type ProgressReporter } from './progress-reporter.ts';
import type { RefusalLog } from './refusals.ts';
import { failedOutcome, runTask } from './run-task.ts';
import { SerialQueue } from './serial-queue.ts';
import type { TaskContext, TaskDependencies } from './task-context.ts';
import { TASK_STAGES } from './task-stages.ts';

export interface TaskRunnerOptions {
  controlPlane: ControlPlane;
  journal: Journal;
  tools: TaskDependencies;
  refusals: RefusalLog;
  clock: PlatformClock;
  crashPoint: CrashPoint;
  log: Logger;
  signal: AbortSignal;
}

export interface TaskRunner {
  /** Settles when the task has its outcome delivered, was refused, or was cut short. */
  accept(signed: SignedTask): Promise<void>;
}

interface Run {
  epoch: number;
  cut: AbortController;
}

export function createTaskRunner(options: TaskRunnerOptions): TaskRunner {
  const { controlPlane, journal, refusals, clock, log, signal } = options;
  const running = new Map<string, Run>();
  const queue = new SerialQueue();

  async function accept(signed: SignedTask): Promise<void> {
    const { node_id, signing_public_key_pem } = controlPlane.identity;
    const origin = verifyOrigin(signed, node_id, signing_public_key_pem);
    if (!origin.ok) {
      // Only for the audit: an unverified sender must not be able to end a real task by its id.
      log.error({ code: origin.code, detail: origin.detail }, 'task dropped');
      return await refusals.add(signed, origin.code, origin.detail, clock.now());
    }
    const task = origin.value;
    const taskLog = log.child({
      task_id: task.task_id,
      kind: task.kind,
      correlation_id: task.correlation_id,
    });

    const admission = await journal.admit(task);
    if (admission.verdict === 'replayed') {
      await refusals.add(signed, 'task_replayed', admission.detail, clock.now());
      return await refuseReplay(task, admission.detail, taskLog);
    }
    if (admission.verdict === 'deliver') return await deliver(admission.entry);

    options.crashPoint(task.kind, 'accepted');
    const content = validateContent(task, clock.now());
    if (!content.ok) {
      taskLog.warn({ code: content.code, detail: content.detail }, 'task refused');
      await refusals.add(signed, content.code, content.detail, clock.now());
      return await deliver(
        await journal.finish(task.task_id, failedOutcome(content.code, content.detail, null)),
      );
    }

    const current = running.get(task.task_id);
    if (current && !current.cut.signal.aborted) {
      taskLog.info({ epoch: task.epoch }, 'a running task goes on under a later epoch');
      current.epoch = task.epoch;
      return;
    }
    await enqueue(content.value, taskLog);
  }

  async function enqueue(checked: ValidatedTask, taskLog: Logger): Promise<void> {
    const run: Run = { epoch: checked.task.epoch, cut: new AbortController() };
    running.set(checked.task.task_id, run);
    const reporter = createProgressReporter({
      controlPlane,
      task: checked.task,
      epoch: () => run.epoch,
      onFenced: () => run.cut.abort(),
    });
    const key = serialKey(checked.kind, subjectOf(checked));
    // Telling that it waits keeps the task's lease.
    if (queue.isBusy(key)) reporter.update(TASK_STAGES[checked.kind][0], 0, 'Waiting for an earlier task');
    try {
      await queue.run(key, () => execute(checked, run, reporter, taskLog));
    } finally {
      if (running.get(checked.task.task_id) === run) running.delete(checked.task.task_id);
      await reporter.close();
    }
  }

  /**
   * A task that ran here keeps its own outcome: failing it for a replayed message would let the replay kill
   * it.
   */
  async function refuseReplay(task: Task, detail: string, taskLog: Logger): Promise<void> {
    taskLog.error({ code: 'task_replayed', detail }, 'task refused');
    if (journal.knows(task.task_id)) return;
    const error = failedOutcome('task_replayed', detail, null);
    await controlPlane.completeTask(task, { epoch: task.epoch, ...error }).catch(() => undefined);
  }

  async function execute(
    checked: ValidatedTask,
    run: Run,
    reporter: ProgressReporter,
    taskLog: Logger,
  ): Promise<void> {
    const stop = AbortSignal.any([signal, run.cut.signal]);
    const context: TaskContext<TaskKind> = {
      signal: stop,
      log: taskLog,
      stage(stage, message) {
        stop.throwIfAborted();
        options.crashPoint(checked.kind, stage);
        stop.throwIfAborted();
        taskLog.info({ stage }, message);
        reporter.update(stage, 0, message);
        return { signal: stop, percent: (percent, text = message) => reporter.update(stage, percent, text) };
      },
    };
    const outcome = await runTask(checked, options.tools, context);
    await reporter.close();
    if (outcome) {
      options.crashPoint(checked.kind, 'outcome');
      return await deliver(await journal.finish(checked.task.task_id, outcome));
    }
    taskLog.warn('task cut short; a later attempt takes it up');
  }

  async function deliver(entry: JournalEntry): Promise<void> {
    await deliverOutcome(entry, { controlPlane, journal, crashPoint: options.crashPoint, log, signal });
  }

  return { accept };
}

function subjectOf({ task, params }: ValidatedTask): string {
  return 'allocation_id' in params ? params.allocation_id : task.node_id;
}
