import { InvalidArgumentError } from 'commander';

export function gpuCount(text: string): number {
  if (!/^[1-9]\d?$/.test(text)) throw new InvalidArgumentError('give a whole number of GPUs');
  return Number(text);
}
