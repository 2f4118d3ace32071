import type { GpuaasClient } from '@gpuaas/sdk/client';
import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { paint, paintState } from '../paint.ts';
import { Redraw } from '../terminal/redraw.ts';
import type { ProgressView } from './open-progress-view.ts';

type Stage = components['schemas']['ProgressStage'];
type Allocation = components['schemas']['Allocation'];

const MARKS = { waiting: '·', running: '▸', done: '✔', failed: '✖' } as const;
const COLORS = { waiting: 'dim', running: 'cyan', done: 'green', failed: 'red' } as const;
const BAR = 20;

/** The six stages, in place. */
export function drawnStages(
  client: GpuaasClient,
  id: string,
  wanted: 'active' | 'released',
  view = new Redraw(),
): ProgressView {
  const path = { allocation_id: id };
  return {
    async show(allocation) {
      const { items } = await unwrap(
        client.GET('/api/v1/allocations/{allocation_id}/progress', { params: { path } }),
      );
      view.draw([heading(allocation), ...stagesFor(items, wanted).map(stageLine)]);
    },
    end: () => undefined,
  };
}

/** Cleanup comes into it only once something is to be cleaned. */
export function stagesFor(stages: Stage[], wanted: 'active' | 'released'): Stage[] {
  if (wanted === 'released') return stages.filter(({ stage }) => stage === 'cleanup');
  return stages.filter(({ stage, status }) => stage !== 'cleanup' || status !== 'waiting');
}

function heading({ name, state, queue }: Allocation): string {
  const place = queue
    ? `  ${queue.position === null ? '' : `position ${queue.position}, `}${queue.detail}`
    : '';
  return `${paint('bold', name, process.stderr)}  ${paintState(state, process.stderr)}${place}`;
}

export function stageLine({ stage, status, percent, message }: Stage): string {
  const mark = paint(COLORS[status] ?? 'dim', MARKS[status] ?? '·', process.stderr);
  const words = stage.replaceAll('_', ' ').padEnd(14);
  if (status !== 'running') return `  ${mark} ${words} ${paint('dim', message, process.stderr)}`;
  const full = Math.round((percent / 100) * BAR);
  const bar = `${'█'.repeat(full)}${'░'.repeat(BAR - full)}`;
  return `  ${mark} ${words} ${bar} ${String(percent).padStart(3)} %  ${message}`;
}
