import type { GpuaasClient } from '@gpuaas/sdk/client';
import type { components } from '@gpuaas/sdk/contract';
import { colorize, colorizeState } from '../colorize.ts';
import { Redraw } from '../terminal/redraw.ts';
import type { ProgressView } from './open-progress-view.ts';
import { readSections, sectionLines, sectionsFor } from './steps.ts';

type Allocation = components['schemas']['Allocation'];

/** The steps in a terminal, drawn again in their place. */
export function liveStepsView(
  client: GpuaasClient,
  id: string,
  wanted: 'active' | 'released',
  view = new Redraw(),
): ProgressView {
  return {
    async show(allocation) {
      const sections = sectionsFor(await readSections(client, id), wanted);
      view.draw([
        heading(allocation),
        ...sections.flatMap((section) => sectionLines(section, process.stderr)),
      ]);
    },
    end: () => undefined,
  };
}

function heading({ name, state, queue }: Allocation): string {
  const place = queue
    ? `  ${queue.position === null ? '' : `position ${queue.position}, `}${queue.detail}`
    : '';
  return `${colorize('bold', name, process.stderr)}  ${colorizeState(state, process.stderr)}${place}`;
}
