import { textOf } from '../../text-of.ts';
import type { KernelEvent, KernelRequest } from '../kernel/kernel-events.ts';
import type { KernelMessage } from '../wire/kernel-message.ts';
import { toCodePoint, toCodeUnit } from './code-units.ts';

type Answer = Extract<KernelEvent, { id: number }>;

/** What the kernel process is asked for a client's request; null where the server answers itself. */
export function toRequest(
  { header, content }: KernelMessage,
  id: number,
  count: number,
): KernelRequest | null {
  const code = textOf(content['code']);
  const at = content['cursor_pos'];
  const cursor = toCodeUnit(code, typeof at === 'number' ? at : Infinity);
  switch (header.msg_type) {
    case 'execute_request':
      return { kind: 'execute', id, code, count, silent: content['silent'] === true };
    case 'complete_request':
      return { kind: 'complete', id, code, cursor };
    case 'inspect_request':
      return { kind: 'inspect', id, code, cursor };
    case 'is_complete_request':
      return { kind: 'is_complete', id, code };
    default:
      return null;
  }
}

/** The content of the reply. */
export function toReply(
  { header, content }: KernelMessage,
  answer: Answer | null,
  count: number,
): Record<string, unknown> {
  switch (answer?.type) {
    case 'done':
      return answer.error
        ? { status: 'error', execution_count: count, ...answer.error }
        : { status: 'ok', execution_count: count, payload: [], user_expressions: {} };
    case 'completed': {
      const code = textOf(content['code']);
      return {
        status: 'ok',
        matches: answer.matches,
        cursor_start: toCodePoint(code, answer.start),
        cursor_end: toCodePoint(code, answer.end),
        metadata: {},
      };
    }
    case 'inspected':
      return { status: 'ok', found: answer.data !== null, data: answer.data ?? {}, metadata: {} };
    case 'judged':
      return { status: answer.status, indent: answer.status === 'incomplete' ? '  ' : '' };
    default:
      break;
  }
  if (header.msg_type === 'history_request') return { status: 'ok', history: [] };
  if (header.msg_type === 'comm_info_request') return { status: 'ok', comms: {} };
  return {
    status: 'error',
    ename: 'Unsupported',
    evalue: 'This kernel does not know this request',
    traceback: [],
  };
}
