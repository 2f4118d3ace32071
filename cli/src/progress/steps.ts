import type { GpuaasClient } from '@gpuaas/sdk/client';
import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { colorize } from '../colorize.ts';

export type Section = components['schemas']['TimelineSection'];
export type Step = components['schemas']['TimelineStep'];

const MARKS = { waiting: '·', active: '▸', done: '✔', failed: '✖', skipped: '–' } as const;
const COLORS = { waiting: 'dim', active: 'cyan', done: 'green', failed: 'red', skipped: 'dim' } as const;
const BAR = 20;

/** The steps of an allocation up to now, by section. */
export async function readSections(client: GpuaasClient, id: string): Promise<Section[]> {
  const params = { path: { allocation_id: id }, query: { limit: 1 } };
  const timeline = await unwrap(client.GET('/api/v1/allocations/{allocation_id}/timeline', { params }));
  return timeline.sections;
}

/** A release is followed without the launch before it. */
export function sectionsFor(sections: Section[], wanted: 'active' | 'released'): Section[] {
  return wanted === 'released' ? sections.filter(({ section }) => section === 'release') : sections;
}

export function sectionLines({ title, steps }: Section, stream: { isTTY?: boolean }): string[] {
  const width = Math.max(...steps.map((step) => step.title.length));
  return [colorize('dim', title, stream), ...steps.map((step) => stepLine(step, width, stream))];
}

/** Marks are for eyes: where there is no terminal the state stands as a word. */
export function stepLine(step: Step, width: number, stream: { isTTY?: boolean }): string {
  const { title, state, percent, detail } = step;
  const name = title.padEnd(width);
  if (!stream.isTTY) return `  ${name}  ${state.padEnd(7)}  ${detail}`.trimEnd();
  const mark = colorize(COLORS[state], MARKS[state], stream);
  if (state !== 'active' || percent === null)
    return `  ${mark} ${name}  ${colorize('dim', state === 'skipped' ? 'skipped' : detail, stream)}`;
  const full = Math.round((percent / 100) * BAR);
  const bar = `${'█'.repeat(full)}${'░'.repeat(BAR - full)}`;
  return `  ${mark} ${name}  ${bar} ${String(percent).padStart(3)} %  ${detail}`;
}
