/** How long the packed `gpuaas` takes to start: `npm run bench:cli`. */
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPackage } from '../../cli/scripts/build-package.ts';

const ROUNDS = 20;
const folder = await mkdtemp(join(tmpdir(), 'gpuaas-bench-cli-'));
try {
  await buildPackage(join(folder, 'package'));
  const main = join(folder, 'package/gpuaas.js');
  console.log(`load ${loadavg()[0]!.toFixed(1)}, ${ROUNDS} rounds, ms from start to end`);
  for (const [name, args] of Object.entries({
    'node alone': ['-e', '0'],
    'gpuaas --version': [main, '--version'],
    'gpuaas admin nodes drain --help': [main, 'admin', 'nodes', 'drain', '--help'],
    'gpuaas complete': [main, 'complete', '--', 'admin', 'no'],
  }))
    console.log(`${name.padEnd(34)} ${figures(args)}`);
} finally {
  await rm(folder, { recursive: true, force: true });
}

function figures(args: string[]): string {
  const times = Array.from({ length: ROUNDS }, () => {
    const begun = performance.now();
    const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' });
    if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}`);
    return performance.now() - begun;
  }).toSorted((a, b) => a - b);
  const at = (share: number): string => times[Math.floor(share * (ROUNDS - 1))]!.toFixed(0).padStart(5);
  return `least ${at(0)}, median ${at(0.5)}, most ${at(1)}`;
}
