import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { buildPackage } from '../../../cli/scripts/build-package.ts';

export interface Result {
  code: number;
  stdout: string;
  stderr: string;
}

export interface CliUnderTest {
  /** The shipped package, which starts four times as fast as its sources. */
  readonly main: string;
  /** A separate home, without settings at first. */
  readonly home: string;
  run(args: string[], env?: Record<string, string>): Promise<Result>;
}

/** The packed command, for the tests of the file this is called in. */
export function useCli(): CliUnderTest {
  let folder = '';
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gpuaas-cli-'));
    await buildPackage(join(folder, 'package'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return {
    get main() {
      return join(folder, 'package', 'gpuaas.js');
    },
    get home() {
      return join(folder, 'home');
    },
    run(args, env = {}) {
      const all = { PATH: process.env['PATH'], XDG_CONFIG_HOME: this.home, ...env };
      return new Promise((resolve) => {
        execFile(process.execPath, [this.main, ...args], { env: all }, (error, stdout, stderr) => {
          resolve({ code: error ? Number(error.code) : 0, stdout, stderr });
        });
      });
    },
  };
}
