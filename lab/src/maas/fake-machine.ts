import { FAILED, MAY, STATUS, STATUS_NAMES, type Status } from './statuses.ts';
import { Refusal } from './refusal.ts';

export interface NewMachine {
  systemId: string;
  hostname: string;
  status?: Status;
}

/** What goes wrong with a machine, until it is taken away again. */
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

/** How long what a machine does by itself takes, and what happens when a deployment is done. */
export interface Surroundings {
  paceMs: number;
  /** The operating system is up and runs the user-data. */
  onDeployed(machine: FakeMachine): Promise<void> | void;
}

let lastSet = 0;

/** A machine with the states of MAAS: it moves only where MAAS lets it, and needs time for what takes time. */
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
  /** What is on its disks; an erasure empties it. */
  readonly disks: string[] = [];
  /** How its disks were erased, in order. */
  readonly erasures: string[] = [];
  /** The parameter `profile` that each commissioning was given. */
  readonly profiles: (string | null)[] = [];
  /** Every state it has been in. */
  readonly history: string[] = [];
  readonly #around: Surroundings;
  #timer: NodeJS.Timeout | null = null;

  constructor({ systemId, hostname, status = STATUS.NEW }: NewMachine, around: Surroundings) {
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
    // A machine that somebody has goes back to them; any other one that passes is fit for use.
    const back = before === STATUS.ALLOCATED || before === STATUS.DEPLOYED ? before : STATUS.READY;
    this.#run(STATUS.TESTING, 'testing fails', back);
  }

  allocate(user: string): void {
    if (this.status !== STATUS.READY || this.owner !== null) {
      throw new Refusal(409, `No available machine matches constraints: system_id=${this.systemId}`);
    }
    this.owner = user;
    this.#enter(STATUS.ALLOCATED);
  }

  deploy(user: string, userData: string | null, series: string): void {
    if (this.faults.has('no address')) {
      throw new Refusal(503, `${this.hostname}: Unable to allocate static IP due to address exhaustion.`);
    }
    if (this.status === STATUS.READY) this.allocate(user);
    if (!MAY.deploy.includes(this.status)) {
      throw new Refusal(409, `Can't deploy a machine that is in the '${STATUS_NAMES[this.status]}' state`);
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
    // MAAS takes a repetition for a success.
    if (this.status === STATUS.RELEASING || this.status === STATUS.READY) return;
    if (!MAY.release.includes(this.status)) {
      const state = STATUS_NAMES[this.status];
      throw new Refusal(409, `Machine cannot be released in its current state ('${state}').`);
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
    if (!MAY.abort.includes(this.status)) {
      const state = STATUS_NAMES[this.status];
      throw new Refusal(409, `Cannot abort in current state: node ${this.systemId} is in state ${state}.`);
    }
    this.#stopTimer();
    const next = { 1: STATUS.NEW, 21: STATUS.READY, 9: STATUS.ALLOCATED, 14: STATUS.FAILED_DISK_ERASING };
    this.powerState = 'off';
    this.#enter(next[this.status as keyof typeof next]);
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

  /** Complaints about commissioning and testing come as a wrong form. */
  #mayForm(operation: 'commission' | 'test', name: string): void {
    if (MAY[operation].includes(this.status)) return;
    throw new Refusal(400, {
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
