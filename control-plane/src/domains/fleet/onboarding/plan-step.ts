import type { components } from '@gpuaas/contracts/generated/openapi.ts';
import type { MaasMachine } from '../../../platform/maas/machine.ts';
import { isBusy, type MachineStatus } from '../../../platform/maas/machine-status.ts';
import { PROFILE_TAGS, PROFILES, type Profile } from './profiles.ts';

export type StepName = components['schemas']['NodeOnboardingStep']['step'];

/** In this order. */
export const STEPS: readonly StepName[] = [
  'tag',
  'commission',
  'test',
  'allocate',
  'deploy',
  'enrol',
  'discover',
];

/** The steps that MAAS performs. */
export type MaasStep = 'tag' | 'commission' | 'test' | 'allocate' | 'deploy';

/** The latest commissioning and test when a step started. */
export type ScriptSets = Pick<MaasMachine, 'commissioningSet' | 'testingSet'>;

export interface Intent {
  profile: Profile;
  /** Our user in MAAS. */
  user: string;
  before: ScriptSets;
}

/** Next action for a machine as MAAS describes it. */
export type Plan = 'act' | 'wait' | 'finish' | { fail: string };

const COMMISSIONABLE: readonly MachineStatus[] = [
  'new',
  'ready',
  'failed_commissioning',
  'failed_testing',
  'broken',
];
const OURS_TO_RELEASE: readonly MachineStatus[] = [
  'allocated',
  'deploying',
  'deployed',
  'failed_deployment',
  'failed_releasing',
  'failed_disk_erasing',
  'broken',
];

/**
 * Decides by the current state, not by earlier requests: a step repeated after a crash or a lost response
 * finds the effect of the first attempt.
 */
export function planStep(step: MaasStep, machine: MaasMachine, intent: Intent): Plan {
  switch (step) {
    case 'tag':
      return PROFILES.every(
        (profile) => machine.tags.includes(PROFILE_TAGS[profile]) === (profile === intent.profile),
      )
        ? 'finish'
        : 'act';
    case 'commission':
      return planScripts(
        machine,
        machine.commissioningSet !== intent.before.commissioningSet,
        COMMISSIONABLE,
      );
    case 'test':
      return planScripts(machine, machine.testingSet !== intent.before.testingSet, ['ready']);
    case 'allocate':
      if (machine.status === 'allocated' && machine.owner === intent.user) return 'finish';
      return machine.status === 'ready' && machine.owner === null ? 'act' : elsewhere(machine);
    case 'deploy':
      if (machine.owner !== intent.user) return elsewhere(machine);
      if (machine.status === 'deployed') return 'finish';
      if (machine.status === 'deploying') return 'wait';
      return machine.status === 'allocated' ? 'act' : elsewhere(machine);
  }
}

function planScripts(machine: MaasMachine, begun: boolean, from: readonly MachineStatus[]): Plan {
  if (!begun) return from.includes(machine.status) ? 'act' : elsewhere(machine);
  if (machine.status === 'ready') return 'finish';
  return machine.status === 'commissioning' || machine.status === 'testing' ? 'wait' : elsewhere(machine);
}

/**
 * How to return a machine to MAAS: running operations are aborted, our allocation is released. `finish`: it
 * is returned.
 */
export function planReturn(machine: MaasMachine, user: string): 'abort' | 'release' | 'wait' | 'finish' {
  if (machine.status === 'commissioning' || machine.status === 'testing') return 'abort';
  if (isBusy(machine.status) && machine.status !== 'deploying') return 'wait';
  return machine.owner === user && OURS_TO_RELEASE.includes(machine.status) ? 'release' : 'finish';
}

/** Why a machine cannot be imported as MAAS describes it; null when it can. */
export function importBlocker(machine: MaasMachine): string | null {
  if (machine.owner !== null) return `In MAAS it belongs to ${machine.owner}.`;
  if (!COMMISSIONABLE.includes(machine.status)) {
    return `MAAS says it is ${machine.status.replaceAll('_', ' ')}.`;
  }
  return /^[a-z0-9][a-z0-9-]{0,62}$/i.test(machine.hostname) ? null : 'Its host name cannot be used.';
}

function elsewhere({ status, owner, statusMessage }: MaasMachine): Plan {
  const whose = owner === null ? '' : `, with owner ${owner}`;
  const why = statusMessage === '' ? '' : `: ${statusMessage}`;
  return { fail: `In MAAS the machine is ${status.replaceAll('_', ' ')}${whose}${why}` };
}
