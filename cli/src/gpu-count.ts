import { InvalidArgumentError } from 'commander';

export function gpuCount(text: string): number {
  if (!/^[1-9]\d?$/.test(text)) throw new InvalidArgumentError('must be a whole number of GPUs');
  return Number(text);
}
