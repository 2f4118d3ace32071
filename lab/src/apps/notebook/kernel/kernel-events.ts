import { isRecord } from '@gpuaas/contracts/is-record';

/** Formats of one value by media type. */
export type MimeBundle = Record<string, unknown>;

/** What the server asks the kernel process; one at a time. */
export type KernelRequest =
  | { kind: 'execute'; id: number; code: string; count: number; silent: boolean }
  | { kind: 'complete' | 'inspect'; id: number; code: string; cursor: number }
  | { kind: 'is_complete'; id: number; code: string };

export interface ThrownError {
  ename: string;
  evalue: string;
  traceback: string[];
}

/** What the kernel process writes, one JSON object a line. */
export type KernelEvent =
  | { type: 'ready' }
  | { type: 'stream'; name: 'stdout' | 'stderr'; text: string }
  | { type: 'display'; data: MimeBundle; displayId: string | null; update: boolean }
  | { type: 'clear'; wait: boolean }
  | { type: 'result'; data: MimeBundle }
  | { type: 'done'; id: number; error: ThrownError | null }
  | { type: 'completed'; id: number; matches: string[]; start: number; end: number }
  | { type: 'inspected'; id: number; data: MimeBundle | null }
  | { type: 'judged'; id: number; status: 'complete' | 'incomplete' | 'invalid' };

/** Null for a line that a cell wrote to the kernel's own descriptor. */
export function readEvent(line: string): KernelEvent | null {
  try {
    const event: unknown = JSON.parse(line);
    return isKernelEvent(event) ? event : null;
  } catch {
    return null;
  }
}

function isKernelEvent(event: unknown): event is KernelEvent {
  if (!isRecord(event)) return false;
  switch (event['type']) {
    case 'ready':
      return true;
    case 'stream':
      return typeof event['text'] === 'string';
    case 'display':
    case 'result':
      return isRecord(event['data']);
    case 'clear':
      return typeof event['wait'] === 'boolean';
    case 'done':
      return typeof event['id'] === 'number' && (event['error'] === null || isRecord(event['error']));
    case 'completed':
    case 'inspected':
    case 'judged':
      return typeof event['id'] === 'number';
    default:
      return false;
  }
}

/** Descriptors of the kernel process beside the standard ones. */
export const EVENTS_FD = 3;
export const INTERRUPT_FD = 4;
