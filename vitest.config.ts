import { defineConfig } from 'vitest/config';
import { ClosingLineReporter } from './tests/setup/closing-line-reporter.ts';
import { LongestFirst } from './tests/setup/longest-first.ts';

const outside = ['**/node_modules/**', '**/dist/**'];
const deep = '**/*.deep.test.ts';
/** Minutes of building and booting whole systems, over the network: `npm run lab:vm:full` alone. */
const full = '**/*.full.test.ts';
/** Tests that start the whole platform; `npm run check` leaves them to `npm test`. */
const wholePlatform =
  process.env['GPUAAS_TESTS'] === 'parts'
    ? ['tests/{attack,contract,e2e,integration,simulation,vm-lab}/**']
    : [];

/** Two tiers: `main` is `npm test`, `deep` is `npm run test:deep`. No retries: a test that wavers is a defect. */
export default defineConfig({
  test: {
    pool: 'forks',
    maxWorkers: 2,
    retry: 0,
    sequence: { sequencer: LongestFirst },
    // Tests wait for what must come, however loaded the machine is.
    expect: { poll: { timeout: 30_000 } },
    // `--changed` follows imports; only these make it run everything.
    forceRerunTriggers: ['**/vitest.config.ts', '**/tests/setup/**'],
    globalSetup: ['tests/setup/global-setup.ts'],
    reporters: ['default', new ClosingLineReporter()],
    projects: [
      {
        extends: true,
        test: {
          name: 'main',
          include: ['**/*.test.ts'],
          exclude: [...outside, deep, full, ...wholePlatform],
          testTimeout: 120_000,
          hookTimeout: 180_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'deep',
          include: [deep],
          exclude: outside,
          testTimeout: 600_000,
          hookTimeout: 300_000,
        },
      },
      {
        extends: true,
        test: {
          name: 'full',
          include: [full],
          exclude: outside,
          testTimeout: 2_400_000,
          hookTimeout: 2_400_000,
        },
      },
    ],
  },
});
