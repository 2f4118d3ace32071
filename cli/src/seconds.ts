import { InvalidArgumentError } from 'commander';

/** A whole number of seconds, at least a minute. */
export function seconds(text: string): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (value < 60) throw new InvalidArgumentError('give whole seconds, at least 60');
  return value;
}
