const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

export type Color = keyof typeof CODES;

/** Colour where somebody looks at it and has not asked for none (https://no-color.org). */
export function paint(color: Color, text: string, stream: { isTTY?: boolean } = process.stdout): string {
  return hasColor(stream) ? `\u001B[${CODES[color]}m${text}\u001B[0m` : text;
}

function hasColor({ isTTY }: { isTTY?: boolean }): boolean {
  return isTTY === true && !process.env['NO_COLOR'] && process.env['TERM'] !== 'dumb';
}

const GOOD = new Set([
  'active',
  'available',
  'connected',
  'delivered',
  'done',
  'enabled',
  'fully_available',
  'good',
  'passed',
  'resolved',
  'succeeded',
]);
const BAD = new Set([
  'cleanup_blocked',
  'critical',
  'exhausted',
  'expired',
  'failed',
  'release_failed',
  'stopped',
  'unavailable',
  'unreachable',
]);
const OVER = new Set(['released', 'revoked', 'disabled', 'waiting', 'cancelled', 'undone']);

/** A state in the colour that it has everywhere. */
export function paintState(state: string, stream?: { isTTY?: boolean }): string {
  if (GOOD.has(state)) return paint('green', state, stream);
  if (BAD.has(state)) return paint('red', state, stream);
  return paint(OVER.has(state) ? 'dim' : 'yellow', state, stream);
}

/** Everything but C0 and C1 controls, with line feeds, tabs and colours left alone. */
// oxlint-disable-next-line no-control-regex
const CONTROLS = /\u001B(?!\[[0-9;]*m)|[\u0000-\u0008\u000B-\u001A\u001C-\u001F\u007F-\u009F]/g;

/** What others wrote may not steer the terminal that shows it. */
export function harmless(text: string): string {
  return text.replaceAll(CONTROLS, '');
}
