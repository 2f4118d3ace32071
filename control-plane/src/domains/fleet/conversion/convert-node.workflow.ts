import { parseTaskOutput } from '@gpuaas/contracts/tasks';
import type { Policies } from '../../../platform/policy/policies.ts';
import type { Services } from '../../../platform/services.ts';
import { step, type WorkflowDefinition } from '../../../platform/workflows/definition.ts';
import type { TaskOutcome } from '../../tasks/complete-task.ts';
import { isFailedCheck } from '../health/readiness.ts';
import { runTask, taskSteps, type TaskRequest, type TaskWork } from '../../tasks/run-task.ts';
import { endConversion } from './end-conversion.ts';

interface Input {
  conversionId: string;
  nodeId: string;
  correlationId: string;
}

type Mode = 'slice' | 'baremetal';

/**
 * Binds the devices of an empty host for another mode, then checks and discovers it. The recorded mode
 * changes last; before that, a failure is undone by binding the devices as before. A host without a mode
 * gets them back as its operating system binds them, which is what baremetal mode asks for.
 */
export const convertNodeWorkflow: WorkflowDefinition<Services, Input> = {
  name: 'node.convert',
  deadlineSeconds: ({ policies }) => 1.25 * conversionDeadline(policies),
  steps: [
    'convert.modes',
    ...taskSteps('convert.bind'),
    ...taskSteps('convert.check'),
    ...taskSteps('convert.discover'),
    ...taskSteps('convert.undo'),
    'convert.end',
  ],
  async run(services, input) {
    const { from, to } = await step('convert.modes', () => modesOf(services, input.conversionId));
    const { policies } = services;
    const ask = (name: string, deadlineSeconds: number, task: TaskWork) =>
      runTask(services, name, deadlineSeconds, async () => issued(input, name, task));

    const bound = await ask('convert.bind', policies.get('fleet.conversion_deadline_seconds'), {
      kind: 'node.set_mode',
      params: { mode: to },
    });
    let trouble = troubleOf(bound) ?? (bound && wrongMode(bound, to));
    if (!trouble && to === 'slice') {
      const checked = await ask('convert.check', policies.get('fleet.discovery_deadline_seconds'), {
        kind: 'slice.prereq_check',
        params: {},
      });
      trouble = troubleOf(checked) ?? missesOf(checked);
    }
    if (!trouble) {
      trouble = troubleOf(
        await ask('convert.discover', policies.get('fleet.discovery_deadline_seconds'), {
          kind: 'slice.topology_discover',
          params: {},
        }),
      );
    }
    const undone = trouble
      ? troubleOf(
          await ask('convert.undo', policies.get('fleet.conversion_deadline_seconds'), {
            kind: 'node.set_mode',
            params: { mode: from ?? 'baremetal' },
          }),
        ) === null
      : false;
    await step('convert.end', () => endConversion(services, input, { trouble, undone }));
  },
};

export function conversionWorkflowId(conversionId: string): string {
  return `convert:${conversionId}`;
}

function conversionDeadline(policies: Policies): number {
  return (
    2 * policies.get('fleet.conversion_deadline_seconds') +
    2 * policies.get('fleet.discovery_deadline_seconds')
  );
}

async function modesOf({ db }: Services, conversionId: string): Promise<{ from: Mode | null; to: Mode }> {
  const row = await db
    .selectFrom('node_conversions')
    .select(['from_mode', 'to_mode'])
    .where('id', '=', conversionId)
    .executeTakeFirstOrThrow();
  return { from: row.from_mode, to: row.to_mode };
}

function issued(input: Input, name: string, task: TaskWork): TaskRequest {
  const workflowId = conversionWorkflowId(input.conversionId);
  const about = {
    nodeId: input.nodeId,
    correlationId: input.correlationId,
    workflowId,
    dedupeKey: `${workflowId}:${name}`,
  };
  return { ...about, ...task };
}

/** The host's error; null on success. */
function troubleOf(result: TaskOutcome | null): string | null {
  if (result?.outcome === 'succeeded') return null;
  return result?.error?.detail ?? 'The host gave no reason.';
}

function wrongMode(result: TaskOutcome, wanted: Mode): string | null {
  const { mode, evidence } = parseTaskOutput('node.set_mode', result.output);
  return mode === wanted ? null : `The host is in ${mode} mode: ${evidence}`;
}

function missesOf(result: TaskOutcome | null): string | null {
  const { checks } = parseTaskOutput('slice.prereq_check', result?.output);
  const misses = checks.filter(isFailedCheck).map((check) => `${check.id}: ${check.evidence}`);
  return misses.length === 0 ? null : `The host is not ready for slices: ${misses.join('; ')}`;
}
