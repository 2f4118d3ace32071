import { MAX_SLOTS } from '../slot-mask.ts';
import type { CapacityShape } from '../candidate.ts';

export interface SimulatedNode {
  id: string;
  gpus: number;
  model: string;
  numa: number[][];
}

export type Operation =
  | { op: 'init'; nodes: SimulatedNode[] }
  | {
      op: 'place';
      id: string;
      t: number | null;
      kind: CapacityShape;
      gpus: number;
      model: string | null;
      duration: number | null;
    }
  | { op: 'release'; id: string; t: number | null };

/** Error of a line, as text for its author. */
export class InvalidLine extends Error {}

type Fields = Record<string, unknown>;

export function readOperation(line: string): Operation {
  const fields = parse(line);
  switch (fields['op']) {
    case 'init':
      return { op: 'init', nodes: readNodes(fields) };
    case 'place':
      return {
        op: 'place',
        id: text(fields, 'id'),
        t: optional(fields, 't', finite),
        kind: kind(fields),
        gpus: gpuCount(fields),
        model: optional(fields, 'model', text),
        duration: optional(fields, 'duration', positive),
      };
    case 'release':
      return { op: 'release', id: text(fields, 'id'), t: optional(fields, 't', finite) };
    default:
      throw new InvalidLine('op must be init, place or release');
  }
}

function parse(line: string): Fields {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new InvalidLine('the line is not JSON');
  }
  return object(value, 'the line');
}

function readNodes(fields: Fields): SimulatedNode[] {
  const { nodes } = fields;
  if (!Array.isArray(nodes)) throw new InvalidLine('nodes must be an array');
  const read = nodes.map((node: unknown, position) => readNode(object(node, `nodes[${position}]`)));
  const ids = new Set(read.map(({ id }) => id));
  if (ids.size < read.length) throw new InvalidLine('two nodes have one id');
  return read;
}

function readNode(fields: Fields): SimulatedNode {
  const id = text(fields, 'id');
  const gpus = gpuCount(fields);
  const numa =
    fields['numa'] === undefined ? [Array.from({ length: gpus }, (_, slot) => slot)] : fields['numa'];
  if (!Array.isArray(numa) || !numa.every((group): group is unknown[] => Array.isArray(group))) {
    throw new InvalidLine(`node ${id}: numa must be an array of arrays of slots`);
  }
  // Sort only after the check: other JSON values may not even convert to numbers.
  const slots = numa.flat().filter((slot): slot is number => Number.isInteger(slot));
  const sorted = slots.toSorted((a, b) => a - b);
  const named = numa.reduce((sum, group) => sum + group.length, 0);
  if (named !== gpus || sorted.length !== gpus || sorted.some((slot, index) => slot !== index)) {
    throw new InvalidLine(`node ${id}: numa must name each slot from 0 to ${gpus - 1} once`);
  }
  return { id, gpus, model: optional(fields, 'model', text) ?? '', numa: numa as number[][] };
}

function kind(fields: Fields): CapacityShape {
  const value = fields['kind'];
  if (value !== 'gpu_slice' && value !== 'baremetal') {
    throw new InvalidLine('kind must be gpu_slice or baremetal');
  }
  return value;
}

function gpuCount(fields: Fields): number {
  const value = fields['gpus'];
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 1 || value > MAX_SLOTS) {
    throw new InvalidLine(`gpus must be a whole number from 1 to ${MAX_SLOTS}`);
  }
  return value;
}

function object(value: unknown, what: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new InvalidLine(`${what} must be an object`);
  }
  return value as Fields;
}

function optional<T>(fields: Fields, name: string, read: (fields: Fields, name: string) => T): T | null {
  return fields[name] === undefined || fields[name] === null ? null : read(fields, name);
}

function text(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string' || value === '') throw new InvalidLine(`${name} must be a text`);
  return value;
}

function finite(fields: Fields, name: string): number {
  const value = fields[name];
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new InvalidLine(`${name} must be a number`);
  return value;
}

function positive(fields: Fields, name: string): number {
  const value = finite(fields, name);
  if (value <= 0) throw new InvalidLine(`${name} must be greater than 0`);
  return value;
}
