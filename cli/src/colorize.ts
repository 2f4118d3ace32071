const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

export type Color = keyof typeof CODES;

/** Colour in a terminal, unless disabled (https://no-color.org). */
export function colorize(color: Color, text: string, stream: { isTTY?: boolean } = process.stdout): string {
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
export function colorizeState(state: string, stream?: { isTTY?: boolean }): string {
  if (GOOD.has(state)) return colorize('green', state, stream);
  if (BAD.has(state)) return colorize('red', state, stream);
  return colorize(OVER.has(state) ? 'dim' : 'yellow', state, stream);
}

/** All C0 and C1 controls except line feeds, tabs and colours. */
// oxlint-disable-next-line no-control-regex
const CONTROLS = /\u001B(?!\[[0-9;]*m)|[\u0000-\u0008\u000B-\u001A\u001C-\u001F\u007F-\u009F]/g;

/** Text from other users must not control the terminal. */
export function stripControlCharacters(text: string): string {
  return text.replaceAll(CONTROLS, '');
}
