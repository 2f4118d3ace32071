export type Environment = Readonly<Record<string, string | undefined>>;

/** A whole number that an app gets by environment. Throws with its name where it is not one. */
export function readCount(env: Environment, name: string, otherwise: number, least = 0): number {
  const text = env[name] ?? String(otherwise);
  if (!/^\d{1,6}$/.test(text) || Number(text) < least)
    throw new Error(`${name} must be a whole number from ${least}, not "${text}"`);
  return Number(text);
}
