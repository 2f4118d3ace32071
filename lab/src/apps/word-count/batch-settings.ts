import { readCount, type Environment } from '../environment.ts';

export interface BatchSettings {
  /** A file or a folder. */
  input: string;
  /** Where the result goes as JSON; null to print it. */
  output: string | null;
  top: number;
  /** Files that may be unreadable before the job fails. */
  maxUnreadable: number;
}

/** Parameters come by environment. Throws with the name of the one that is wrong. */
export function readSettings(env: Environment): BatchSettings {
  const input = env['PARAM_INPUT'];
  if (!input) throw new Error('PARAM_INPUT must name a file or a folder');
  return {
    input,
    output: env['PARAM_OUTPUT'] || null,
    top: readCount(env, 'PARAM_TOP', 20),
    maxUnreadable: readCount(env, 'PARAM_MAX_UNREADABLE', 0),
  };
}
