import { spawnSync } from 'node:child_process';
import type { NotebookSettings } from './notebook-settings.ts';

/** The servers that the start looks for, the best one first. */
const PROGRAMS = ['jupyter-lab', 'jupyter-server', 'jupyter-notebook'];
const PROBE_MS = 15_000;

/** A Jupyter that answers its version; null if the machine has none. */
export function findJupyter(): string | null {
  const works = (program: string): boolean =>
    spawnSync(program, ['--version'], { timeout: PROBE_MS, stdio: 'ignore' }).status === 0;
  return PROGRAMS.find(works) ?? null;
}

/** Keeps the public host name and signs nobody in: the gateway does, and it is the only way to the port. */
export function jupyterArguments(program: string, settings: NotebookSettings, port: string): string[] {
  const part = program === 'jupyter-notebook' ? 'NotebookApp' : 'ServerApp';
  const root = program === 'jupyter-notebook' ? 'notebook_dir' : 'root_dir';
  return [
    `--${part}.ip=127.0.0.1`,
    `--${part}.port=${port}`,
    `--${part}.port_retries=0`,
    `--${part}.open_browser=False`,
    `--${part}.allow_remote_access=True`,
    `--${part}.token=${settings.token ?? ''}`,
    `--${part}.password=`,
    `--${part}.base_url=${settings.basePath}`,
    `--${part}.${root}=${settings.folder}`,
  ];
}
