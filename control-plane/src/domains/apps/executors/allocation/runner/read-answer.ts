import { GuestError, type GuestFailure } from '../guest-error.ts';

type Fields = ReadonlyMap<string, unknown>;

const RUNNER_FAILURES: Readonly<Record<string, [GuestFailure, string]>> = {
  disk_full: ['disk_full', 'The disk of the machine is full.'],
  permissions: ['permissions', 'The home folder of the machine cannot be written.'],
  digest_mismatch: ['digest_mismatch', 'The payload arrived with another digest.'],
  port_taken: ['rejected', 'A port of the member is in use in the machine.'],
  vanished: ['node_lost', 'The files of the member were deleted meanwhile.'],
  not_started: ['executor_error', 'The supervisor of the member did not start.'],
  ended: ['executor_error', 'The member was stopped; it does not start again.'],
};

/** The bytes of an answer after its first line. Whatever the login shell printed before is not part of it. */
export function afterBegin(output: Buffer, nonce: string): Buffer {
  const begin = `gpuaas ${nonce} begin\n`;
  const at = output.indexOf(begin);
  if (at < 0) throw new GuestError('access_lost', 'The login shell of the machine does not run the runner.');
  return output.subarray(at + Buffer.byteLength(begin));
}

/** The objects of a complete answer. A tenant can change the runner, so nothing is taken for granted. */
export function readAnswer(output: Buffer, nonce: string): Fields[] {
  const text = afterBegin(output, nonce).toString('utf8');
  const end = text.indexOf(`gpuaas ${nonce} end\n`);
  if (end < 0) throw new GuestError('executor_error', 'The answer of the runner is cut off.');
  const lines = text.slice(0, end).split('\n').slice(0, -1);
  return lines.map(readLine);
}

export function readLine(line: string): Fields {
  const fields = parse(line);
  const error = fields.get('error');
  if (error === undefined) return fields;
  const [reason, message] = (typeof error === 'string' ? RUNNER_FAILURES[error] : undefined) ?? [
    'executor_error',
    'The runner in the machine failed for an unknown reason.',
  ];
  throw new GuestError(reason, message);
}

function parse(line: string): Fields {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'object' && value !== null) return new Map(Object.entries(value));
  } catch {
    // Falls through to the refusal.
  }
  throw new GuestError('executor_error', 'The answer of the runner is no JSON.');
}

export function count(fields: Fields, name: string): number {
  const value = fields.get(name);
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw unfit(name);
}

export function countOrNull(fields: Fields, name: string): number | null {
  return fields.get(name) === null ? null : count(fields, name);
}

export function flag(fields: Fields, name: string): boolean {
  const value = fields.get(name);
  if (typeof value === 'boolean') return value;
  throw unfit(name);
}

export function word(fields: Fields, name: string): string {
  const value = fields.get(name);
  if (typeof value === 'string' && value.length <= 100) return value;
  throw unfit(name);
}

export function list(fields: Fields, name: string): unknown[] {
  const value = fields.get(name);
  if (Array.isArray(value) && value.length <= 1000) return value;
  throw unfit(name);
}

export function ports(fields: Fields, name: string): number[] {
  return list(fields, name).map((port) => {
    if (typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536) return port;
    throw unfit(name);
  });
}

function unfit(name: string): GuestError {
  return new GuestError('executor_error', `The answer of the runner has no valid ${name}.`);
}
