import { FAILED, ALLOWED_FROM, STATUS, STATUS_NAMES, type Status } from './statuses.ts';
import { MaasRefusal } from './refusal.ts';

export interface NewMachine {
  systemId: string;
  hostname: string;
  status?: Status;
}

/** Fault of a machine, until it is cleared. */
export type MachineFault =
  | 'commissioning fails'
  | 'testing fails'
  | 'deploying fails'
  | 'erasing fails'
  | 'never ends'
  | 'no address';

interface ScriptSet {
  id: number;
  type: 'commissioning' | 'testing';
  scripts: { name: string; passed: boolean | null }[];
}

/** Duration of a machine's own transitions, and the effect of a finished deployment. */
export interface MachineEnvironment {
  paceMs: number;
  /** The operating system is up and runs the user-data. */
  onDeployed(machine: FakeMachine): Promise<void> | void;
}

let lastSet = 0;

/**
 * A machine with the states of MAAS: it accepts only transitions that MAAS allows, and takes time for them.
 */
export class FakeMachine {
  readonly systemId: string;
  readonly hostname: string;
  status: Status;
  owner: string | null = null;
  powerState: 'on' | 'off' = 'off';
  userData: string | null = null;
  distroSeries = '';
  readonly tags = new Set<string>();
  readonly faults = new Set<MachineFault>();
  readonly sets: ScriptSet[] = [];
  /** Content of its disks; an erasure empties it. */
  readonly disks: string[] = [];
  /** How its disks were erased, in order. */
  readonly erasures: string[] = [];
  /** The parameter `profile` that each commissioning was given. */
  readonly profiles: (string | null)[] = [];
  /** Every state it has been in. */
  readonly history: string[] = [];
  readonly #around: MachineEnvironment;
  #timer: NodeJS.Timeout | null = null;

  constructor({ systemId, hostname, status = STATUS.NEW }: NewMachine, around: MachineEnvironment) {
    this.systemId = systemId;
    this.hostname = hostname;
    this.status = status;
    this.#around = around;
  }

  commission(scripts: readonly string[], profile: string | null): void {
    this.#mayForm('commission', 'Commission');
    this.profiles.push(profile);
    this.#addSet('commissioning', ['20-maas-01-install-lldpd', ...scripts]);
    this.powerState = 'on';
    this.#run(STATUS.COMMISSIONING, 'commissioning fails', STATUS.READY);
  }

  test(scripts: readonly string[]): void {
    this.#mayForm('test', 'Test');
    const before = this.status;
    this.#addSet('testing', scripts.length === 0 ? ['smartctl-validate'] : scripts);
    this.powerState = 'on';
    // An allocated machine returns to its owner; any other machine that passes becomes ready.
    const back = before === STATUS.ALLOCATED || before === STATUS.DEPLOYED ? before : STATUS.READY;
    this.#run(STATUS.TESTING, 'testing fails', back);
  }

  allocate(user: string): void {
    if (this.status !== STATUS.READY || this.owner !== null) {
      throw new MaasRefusal(409, `No available machine matches constraints: system_id=${this.systemId}`);
    }
    this.owner = user;
    this.#enter(STATUS.ALLOCATED);
  }

  deploy(user: string, userData: string | null, series: string): void {
    if (this.faults.has('no address')) {
      throw new MaasRefusal(503, `${this.hostname}: Unable to allocate static IP due to address exhaustion.`);
    }
    if (this.status === STATUS.READY) this.allocate(user);
    if (!ALLOWED_FROM.deploy.includes(this.status)) {
      throw new MaasRefusal(
        409,
        `Can't deploy a machine that is in the '${STATUS_NAMES[this.status]}' state`,
      );
    }
    this.userData = userData;
    this.distroSeries = series;
    this.powerState = 'on';
    this.#run(STATUS.DEPLOYING, 'deploying fails', STATUS.DEPLOYED, () => {
      this.disks.push('an operating system');
      return this.#around.onDeployed(this);
    });
  }

  release(erase: { secure: boolean; quick: boolean } | null): void {
    // MAAS accepts a repetition as a success.
    if (this.status === STATUS.RELEASING || this.status === STATUS.READY) return;
    if (!ALLOWED_FROM.release.includes(this.status)) {
      const state = STATUS_NAMES[this.status];
      throw new MaasRefusal(409, `Machine cannot be released in its current state ('${state}').`);
    }
    this.userData = null;
    if (erase) {
      this.powerState = 'on';
      this.#run(STATUS.DISK_ERASING, 'erasing fails', STATUS.RELEASING, () => {
        this.erasures.push(erase.secure ? 'secure' : erase.quick ? 'quick' : 'overwritten');
        if (erase.secure || !erase.quick) this.disks.length = 0;
        this.#letGo();
      });
    } else this.#letGo();
  }

  abort(): void {
    if (!ALLOWED_FROM.abort.includes(this.status)) {
      const state = STATUS_NAMES[this.status];
      throw new MaasRefusal(
        409,
        `Cannot abort in current state: node ${this.systemId} is in state ${state}.`,
      );
    }
    this.#stopTimer();
    const after: Partial<Record<Status, Status>> = {
      1: STATUS.NEW,
      21: STATUS.READY,
      9: STATUS.ALLOCATED,
      14: STATUS.FAILED_DISK_ERASING,
    };
    const next = after[this.status];
    if (next === undefined) throw new Error(`status ${this.status} has no abort`);
    this.powerState = 'off';
    this.#enter(next);
  }

  stop(): void {
    this.#stopTimer();
  }

  #letGo(): void {
    this.#run(STATUS.RELEASING, null, STATUS.READY, () => {
      this.powerState = 'off';
      this.owner = null;
    });
  }

  /** MAAS reports refusals of commissioning and testing as invalid forms. */
  #mayForm(operation: 'commission' | 'test', name: string): void {
    if (ALLOWED_FROM[operation].includes(this.status)) return;
    throw new MaasRefusal(400, {
      __all__: [`${name} is not available because of the current state of the node.`],
    });
  }

  #addSet(type: ScriptSet['type'], names: readonly string[]): void {
    lastSet += 1;
    this.sets.push({ id: lastSet, type, scripts: names.map((name) => ({ name, passed: null })) });
  }

  #run(busy: Status, fault: MachineFault | null, next: Status, done?: () => Promise<void> | void): void {
    this.#stopTimer();
    this.#enter(busy);
    if (this.faults.has('never ends')) return;
    this.#timer = setTimeout(() => {
      this.#timer = null;
      const failed = fault !== null && this.faults.has(fault);
      for (const script of this.sets.at(-1)?.scripts ?? []) script.passed ??= !failed;
      this.#enter(failed ? FAILED[busy]! : next);
      if (!failed) void done?.();
    }, this.#around.paceMs);
  }

  #enter(status: Status): void {
    this.status = status;
    this.history.push(STATUS_NAMES[status]);
  }

  #stopTimer(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
  }
}
