import type { TaskHandler } from './task-context.ts';
import { TaskError } from './task-error.ts';

/** Binds the devices of this host for another mode. Refused while any of them is in use. */
export const setMode: TaskHandler<'node.set_mode'> = async (
  { mode },
  { host, leases, hostLease },
  context,
) => {
  const binding = context.stage('mode', `Binding devices for ${mode}`);
  const held = (await leases.list()).length;
  const holder = await hostLease.holder();
  if (held > 0 || holder) {
    throw new TaskError(
      'mode_refused',
      holder ? 'the host is leased as a whole' : `${held} slots are leased`,
    );
  }
  const evidence = await host.setMode(mode, binding);
  return { mode, evidence };
};
