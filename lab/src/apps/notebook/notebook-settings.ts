import { homedir } from 'node:os';
import { resolve } from 'node:path';
import type { Environment } from '../environment.ts';

export interface NotebookSettings {
  /** Notebooks and files lie here. */
  folder: string;
  /** Begins and ends with a slash. */
  basePath: string;
  /** Null behind the gateway, which signs people in itself. */
  token: string | null;
  engine: 'auto' | 'jupyter' | 'javascript';
}

export function readSettings(env: Environment): NotebookSettings {
  const engine = env['PARAM_ENGINE'] || 'auto';
  if (engine !== 'auto' && engine !== 'jupyter' && engine !== 'javascript')
    throw new Error(`PARAM_ENGINE must be auto, jupyter or javascript, not "${engine}"`);
  const basePath = `/${env['BASE_PATH'] ?? ''}/`.replaceAll(/\/+/g, '/');
  return {
    folder: resolve(homedir(), env['PARAM_FOLDER'] || '.'),
    basePath,
    token: env['PARAM_TOKEN'] || null,
    engine,
  };
}
