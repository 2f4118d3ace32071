import { MaasError } from './maas-error.ts';
import { statusOf, type MachineStatus } from './machine-status.ts';

/** What we use of a machine as MAAS describes it. */
export interface MaasMachine {
  systemId: string;
  hostname: string;
  status: MachineStatus;
  /** What MAAS says of the last thing that happened to it. */
  statusMessage: string;
  /** The MAAS user who has it; null when nobody does. */
  owner: string | null;
  tags: string[];
  powerState: PowerState;
  architecture: string;
  cpuCount: number;
  memoryMib: number;
  pool: string;
  zone: string;
  vendor: string | null;
  product: string | null;
  serial: string | null;
  /** Grows with each commissioning; tells whether one was begun since somebody looked. */
  commissioningSet: number | null;
  /** The same for hardware tests. */
  testingSet: number | null;
}

export type PowerState = 'on' | 'off' | 'unknown' | 'error';

/** One run of a commissioning or test script. */
export interface ScriptResult {
  name: string;
  status: string;
  exitStatus: number | null;
}

const POWER_STATES: readonly string[] = ['on', 'off', 'unknown', 'error'];
const UNKNOWN_HARDWARE: readonly unknown[] = ['', 'Unknown', undefined, null];

type Json = Record<string, unknown>;

export function readMachine(value: unknown): MaasMachine {
  const json = objectOf(value);
  const hardware = objectOf(json['hardware_info'] ?? {});
  return {
    systemId: textOf(json, 'system_id'),
    hostname: textOf(json, 'hostname'),
    status: statusOf(numberOf(json, 'status')),
    statusMessage: typeof json['status_message'] === 'string' ? json['status_message'] : '',
    owner: typeof json['owner'] === 'string' && json['owner'] !== '' ? json['owner'] : null,
    tags: Array.isArray(json['tag_names']) ? json['tag_names'].map(String) : [],
    powerState: readPowerState(json['power_state']),
    architecture: typeof json['architecture'] === 'string' ? json['architecture'] : '',
    cpuCount: typeof json['cpu_count'] === 'number' ? json['cpu_count'] : 0,
    memoryMib: typeof json['memory'] === 'number' ? json['memory'] : 0,
    pool: nameOf(json['pool']),
    zone: nameOf(json['zone']),
    vendor: knownOf(hardware['system_vendor']),
    product: knownOf(hardware['system_product']),
    serial: knownOf(hardware['system_serial']),
    commissioningSet: setOf(json['current_commissioning_result_id']),
    testingSet: setOf(json['current_testing_result_id']),
  };
}

export function readMachines(value: unknown): MaasMachine[] {
  if (!Array.isArray(value)) throw strange('a list of machines');
  return value.map(readMachine);
}

export function readPowerState(value: unknown): PowerState {
  return typeof value === 'string' && POWER_STATES.includes(value) ? (value as PowerState) : 'unknown';
}

/** The scripts of the newest set in a list of result sets. */
export function readResults(value: unknown): ScriptResult[] {
  if (!Array.isArray(value)) throw strange('a list of results');
  const sets = value.map(objectOf).toSorted((a, b) => numberOf(b, 'id') - numberOf(a, 'id'));
  const results = sets[0]?.['results'];
  if (!Array.isArray(results)) return [];
  return results.map(objectOf).map((result) => ({
    name: textOf(result, 'name'),
    status: textOf(result, 'status_name'),
    exitStatus: typeof result['exit_status'] === 'number' ? result['exit_status'] : null,
  }));
}

export function textOf(json: Json, field: string): string {
  const value = json[field];
  if (typeof value === 'string') return value;
  throw strange(`text in ${field}`);
}

export function objectOf(value: unknown): Json {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Json;
  throw strange('an object');
}

function numberOf(json: Json, field: string): number {
  const value = json[field];
  if (typeof value === 'number') return value;
  throw strange(`a number in ${field}`);
}

function nameOf(value: unknown): string {
  const name = typeof value === 'object' && value !== null ? (value as Json)['name'] : null;
  return typeof name === 'string' ? name : '';
}

function knownOf(value: unknown): string | null {
  return UNKNOWN_HARDWARE.includes(value) ? null : String(value);
}

function setOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

function strange(wanted: string): MaasError {
  return new MaasError('invalid', `MAAS answered with something else than ${wanted}`);
}
