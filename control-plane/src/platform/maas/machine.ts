import { isRecord } from '@gpuaas/contracts/is-record';
import { MaasError } from './maas-error.ts';
import { parseMachineStatus, type MachineStatus } from './machine-status.ts';

/** The fields of a MAAS machine that we use. */
export interface MaasMachine {
  systemId: string;
  hostname: string;
  status: MachineStatus;
  /** MAAS's message about the machine's last event. */
  statusMessage: string;
  /** The MAAS user who has it; null if unallocated. */
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
  /** Grows with each commissioning; shows whether one was started since an earlier read. */
  commissioningSet: number | null;
  /** Grows with each hardware test. */
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
  const json = asObject(value);
  const hardware = asObject(json['hardware_info'] ?? {});
  return {
    systemId: readText(json, 'system_id'),
    hostname: readText(json, 'hostname'),
    status: parseMachineStatus(numberOf(json, 'status')),
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
  const sets = value.map(asObject).toSorted((a, b) => numberOf(b, 'id') - numberOf(a, 'id'));
  const results = sets[0]?.['results'];
  if (!Array.isArray(results)) return [];
  return results.map(asObject).map((result) => ({
    name: readText(result, 'name'),
    status: readText(result, 'status_name'),
    exitStatus: typeof result['exit_status'] === 'number' ? result['exit_status'] : null,
  }));
}

export function readText(json: Json, field: string): string {
  const value = json[field];
  if (typeof value === 'string') return value;
  throw strange(`text in ${field}`);
}

export function asObject(value: unknown): Json {
  if (isRecord(value)) return value;
  throw strange('an object');
}

function numberOf(json: Json, field: string): number {
  const value = json[field];
  if (typeof value === 'number') return value;
  throw strange(`a number in ${field}`);
}

function nameOf(value: unknown): string {
  const name = isRecord(value) ? value['name'] : null;
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
