import { InvalidArgumentError } from 'commander';

/** A whole number of seconds, at least a minute. */
export function parseSeconds(text: string): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value < 60) throw new InvalidArgumentError('must be a whole number of seconds, at least 60');
  return value;
}
