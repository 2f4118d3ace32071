import { it } from 'vitest';
import { casesOf, proveSteps } from './step-matrix.ts';
import type { Scene } from './step-scenes.ts';

/** A test per scene. Files of their own run beside each other. */
export function everyStepOf(scenes: [name: string, scene: Scene][]): void {
  it.each(scenes)(
    'every step of %s, killed before, inside and after it, failed once and run twice, leaves nothing behind',
    async (_name, scene) => {
      await proveSteps(scene, casesOf(scene), 400_000);
    },
    500_000,
  );
}
