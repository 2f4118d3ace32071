import { beginRedaction, endRedaction, redact } from '../../secrets/redact.ts';

/** A line that is longer is taken in parts. */
const MAX_LINE_BYTES = 64 * 1024;

/**
 * The part of a chunk that can be kept now, without secrets, and how many bytes of the chunk it stands for. It ends with a
 * line, so that a secret that only begins in the chunk is seen whole with the next one.
 */
export function cutLog(
  chunk: Buffer,
  secrets: readonly string[],
  { isEnd }: { isEnd: boolean },
): { text: Buffer; taken: number } {
  const lineEnd = chunk.lastIndexOf(0x0a) + 1;
  const isLongLine = lineEnd === 0 && chunk.length >= MAX_LINE_BYTES;
  if (!isEnd && lineEnd === 0 && !isLongLine) return { text: Buffer.alloc(0), taken: 0 };
  const part = isEnd || isLongLine ? chunk : chunk.subarray(0, lineEnd);
  const step = redact(beginRedaction(secrets), part.toString('latin1'));
  // Of a long line, what may be the begin of a secret stays for the next chunk.
  if (isLongLine && !isEnd && step.state.held.length < part.length)
    return { text: Buffer.from(step.text, 'latin1'), taken: part.length - step.state.held.length };
  return { text: Buffer.from(step.text + endRedaction(step.state), 'latin1'), taken: part.length };
}
