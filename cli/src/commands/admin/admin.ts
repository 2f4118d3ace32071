import type { Command } from 'commander';
import { addApprove } from './approve.ts';
import { addAudit } from './audit.ts';
import { addConvert } from './convert.ts';
import { addDiscover } from './discover.ts';
import { addDrain } from './drain.ts';
import { addEnrol } from './enrol.ts';
import { addFleetTop } from './top.ts';
import { addUnblock } from './unblock.ts';

/** What operators do all day, by the names of hosts; everything else is among the resources. */
export function addAdmin(program: Command): void {
  const admin = program.command('admin').description('for operators of the platform');
  for (const add of [
    addEnrol,
    addDiscover,
    addApprove,
    addDrain,
    addConvert,
    addUnblock,
    addFleetTop,
    addAudit,
  ])
    add(admin);
}
