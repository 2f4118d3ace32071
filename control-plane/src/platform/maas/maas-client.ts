import { systemClock, type Clock } from '../clock.ts';
import { authorization, type MaasApiKey } from './api-key.ts';
import { MaasError, parseMaasError } from './maas-error.ts';
import {
  asObject,
  readMachine,
  readMachines,
  readPowerState,
  readResults,
  readText,
  type MaasMachine,
  type PowerState,
  type ScriptResult,
} from './machine.ts';
import { sendMaasRequest } from './send.ts';

export interface MaasConnection {
  /** Where MAAS is, such as `https://maas.example:5443/MAAS`. */
  url: URL;
  key: MaasApiKey;
  ca: string | null;
}

/** Scripts to run; MAAS's own choice if none are given. */
export interface Commissioning {
  commissioningScripts?: readonly string[];
  /** None at all if empty. */
  testingScripts?: readonly string[];
  /** For scripts that have these parameters; MAAS ignores them for others. */
  parameters?: Readonly<Record<string, string>>;
}

/** How thoroughly disks are erased. Without either, every byte is overwritten. */
export interface Erasure {
  /** By the drive itself where it can; it is overwritten where it cannot. */
  secureErase: boolean;
}

/**
 * The part of MAAS's API 2.0 that we use. Operations are `?op=` on the path of a resource, bodies are forms;
 * `op-…` in its newer documentation means the same.
 */
export class MaasClient {
  readonly #connection: MaasConnection;
  readonly #clock: Clock;

  constructor(connection: MaasConnection, clock: Clock = systemClock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** The user of our API key: machines that it allocates are ours. */
  async whoAmI(): Promise<string> {
    return readText(asObject(await this.#get('users/', 'whoami')), 'username');
  }

  async machines(): Promise<MaasMachine[]> {
    return readMachines(await this.#get('machines/'));
  }

  async machine(systemId: string): Promise<MaasMachine> {
    return readMachine(await this.#get(machinePath(systemId)));
  }

  async commission(systemId: string, scripts: Commissioning = {}): Promise<MaasMachine> {
    return await this.#ask(systemId, 'commission', {
      ...scripts.parameters,
      ...listed('commissioning_scripts', scripts.commissioningScripts),
      ...listed('testing_scripts', scripts.testingScripts),
    });
  }

  /** Runs hardware tests; by default those that MAAS runs after a commissioning. */
  async test(systemId: string, scripts?: readonly string[]): Promise<MaasMachine> {
    return await this.#ask(systemId, 'test', listed('testing_scripts', scripts));
  }

  /** Allocates one machine to our user. */
  async allocate(systemId: string): Promise<MaasMachine> {
    return readMachine(await this.#post('machines/', 'allocate', { system_id: systemId }));
  }

  /** Installs an operating system, which then runs the user-data. */
  async deploy(
    systemId: string,
    { userData, distroSeries }: { userData: string; distroSeries: string | null },
  ): Promise<MaasMachine> {
    return await this.#ask(systemId, 'deploy', {
      user_data: Buffer.from(userData, 'utf8').toString('base64'),
      ...(distroSeries === null ? {} : { distro_series: distroSeries }),
    });
  }

  /** Gives a machine back, its disks erased or as they are. */
  async release(systemId: string, erasure: Erasure | null, comment: string): Promise<MaasMachine> {
    return await this.#ask(systemId, 'release', {
      comment,
      // `quick_erase` wipes only both ends of a disk and proves nothing, so it is disabled regardless of
      // MAAS's default.
      ...(erasure === null
        ? { erase: 'false' }
        : { erase: 'true', secure_erase: String(erasure.secureErase), quick_erase: 'false' }),
    });
  }

  /** Aborts the machine's current operation: a commissioning, test, deployment or erasure. */
  async abort(systemId: string, comment: string): Promise<MaasMachine> {
    return await this.#ask(systemId, 'abort', { comment });
  }

  async powerOn(systemId: string): Promise<MaasMachine> {
    return await this.#ask(systemId, 'power_on', {});
  }

  /** `hard` cuts the power; `soft` asks the operating system. */
  async powerOff(systemId: string, mode: 'hard' | 'soft'): Promise<MaasMachine> {
    return await this.#ask(systemId, 'power_off', { stop_mode: mode });
  }

  /** Queries the machine's power controller, not MAAS's cached state. */
  async queryPower(systemId: string): Promise<PowerState> {
    return readPowerState(asObject(await this.#get(machinePath(systemId), 'query_power_state'))['state']);
  }

  /** Tags a machine; creates the tag if needed. */
  async tag(systemId: string, tag: string): Promise<void> {
    try {
      await this.#post(`tags/${tag}/`, 'update_nodes', { add: systemId });
    } catch (error) {
      if (!(error instanceof MaasError) || error.trouble !== 'not_found') throw error;
      await this.#makeTag(tag);
      await this.#post(`tags/${tag}/`, 'update_nodes', { add: systemId });
    }
  }

  async untag(systemId: string, tag: string): Promise<void> {
    try {
      await this.#post(`tags/${tag}/`, 'update_nodes', { remove: systemId });
    } catch (error) {
      if (!(error instanceof MaasError) || error.trouble !== 'not_found') throw error;
    }
  }

  /** Script results of the newest commissioning or test. */
  async results(systemId: string, type: 'commissioning' | 'testing'): Promise<ScriptResult[]> {
    return readResults(await this.#get(`nodes/${encodeURIComponent(systemId)}/results/`, null, { type }));
  }

  async #makeTag(tag: string): Promise<void> {
    try {
      await this.#post('tags/', null, { name: tag, comment: 'What GPUaaS sells this machine as' });
    } catch (error) {
      // Another client may have created it in the meantime, which MAAS reports as an invalid form.
      if (!(error instanceof MaasError) || error.trouble !== 'invalid') throw error;
    }
  }

  async #ask(systemId: string, operation: string, form: Record<string, string>): Promise<MaasMachine> {
    return readMachine(await this.#post(machinePath(systemId), operation, form));
  }

  async #get(path: string, operation: string | null = null, query: Record<string, string> = {}) {
    return await this.#call('GET', path, operation === null ? query : { op: operation, ...query }, null);
  }

  async #post(path: string, operation: string | null, form: Record<string, string>): Promise<unknown> {
    return await this.#call('POST', path, operation === null ? {} : { op: operation }, form);
  }

  async #call(
    method: 'GET' | 'POST',
    path: string,
    query: Record<string, string>,
    form: Record<string, string> | null,
  ): Promise<unknown> {
    const { url: base, key, ca } = this.#connection;
    const url = new URL(`${base.href.replace(/\/$/, '')}/api/2.0/${path}`);
    url.search = new URLSearchParams(query).toString();
    const answer = await sendMaasRequest(url, {
      method,
      authorization: authorization(key, this.#clock),
      form,
      ca,
    });
    if (answer.status < 200 || answer.status > 299) throw parseMaasError(answer.status, answer.body);
    try {
      return JSON.parse(answer.body);
    } catch (error) {
      throw new MaasError('invalid', 'MAAS answered with something else than JSON', { cause: error });
    }
  }
}

function machinePath(systemId: string): string {
  return `machines/${encodeURIComponent(systemId)}/`;
}

function listed(field: string, names: readonly string[] | undefined): Record<string, string> {
  if (names === undefined) return {};
  return { [field]: names.length === 0 ? 'none' : names.join(',') };
}
