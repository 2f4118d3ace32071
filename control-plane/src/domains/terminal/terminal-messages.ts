export interface AuthMessage {
  type: 'auth';
  token: string;
  cols: number;
  rows: number;
}

export interface ResizeMessage {
  type: 'resize';
  cols: number;
  rows: number;
}

/** Text frames carry control, binary frames carry the terminal's bytes. Null for anything we do not know. */
export function parseClientMessage(data: Buffer): AuthMessage | ResizeMessage | null {
  let value: unknown;
  try {
    value = JSON.parse(data.toString('utf8'));
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null) return null;
  const { type, token, cols, rows } = value as Record<string, unknown>;
  if (!isSize(cols) || !isSize(rows)) return null;
  if (type === 'auth' && typeof token === 'string' && token.length <= 200) return { type, token, cols, rows };
  if (type === 'resize') return { type, cols, rows };
  return null;
}

function isSize(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 1000;
}
