import { it } from 'vitest';
import { casesOf, verifySteps } from './step-matrix.ts';
import type { Scenario } from './step-scenes.ts';

/** A test per scene. Separate files run in parallel. */
export function everyStepOf(scenes: [name: string, scene: Scenario][]): void {
  it.each(scenes)(
    'every step of %s, killed before, inside and after it, failed once and run twice, leaves nothing behind',
    async (_name, scene) => {
      await verifySteps(scene, casesOf(scene), 400_000);
    },
    500_000,
  );
}
