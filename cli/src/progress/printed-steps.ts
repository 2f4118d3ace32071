import type { GpuaasClient } from '@gpuaas/sdk/client';
import { stripControlCharacters } from '../colorize.ts';
import type { ProgressView } from './open-progress-view.ts';
import { readSections, sectionsFor, stepLine } from './steps.ts';

const WIDTH = 26;

/** A line for each step that began or ended since the last look: for logs. */
export function printedStepsView(
  client: GpuaasClient,
  id: string,
  wanted: 'active' | 'released',
): ProgressView {
  const printed = new Map<string, string>();
  return {
    async show() {
      for (const { section, steps } of sectionsFor(await readSections(client, id), wanted)) {
        for (const [place, step] of steps.entries()) {
          const name = `${section} ${step.stage} ${place}`;
          if (step.state === 'waiting' || printed.get(name) === step.state) continue;
          printed.set(name, step.state);
          console.error(stripControlCharacters(stepLine(step, WIDTH, process.stderr)));
        }
      }
    },
    end: () => undefined,
  };
}
