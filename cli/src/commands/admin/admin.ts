import type { Command } from 'commander';
import { addApprove } from './approve.ts';
import { addAudit } from './audit.ts';
import { addConvert } from './convert.ts';
import { addDiscover } from './discover.ts';
import { addDrain } from './drain.ts';
import { addEnrol } from './enrol.ts';
import { addFleetTop } from './top.ts';
import { addUnblock } from './unblock.ts';

/** Daily work of operators, by hostname; everything else is among the resource commands. */
export function addAdmin(program: Command): void {
  const admin = program.command('admin').description('operator commands');
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
