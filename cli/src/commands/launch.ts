import { InvalidArgumentError, type Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { describe } from '../describe-allocation.ts';
import { print } from '../print.ts';
import { chooseProject, openSession } from '../session.ts';
import { seconds } from '../seconds.ts';
import { followAllocation } from '../follow-allocation.ts';

interface LaunchOptions {
  gpus: number;
  project?: string;
  sku: string;
  image: string;
  region: string;
  name?: string;
  queue?: boolean;
  maxDuration?: number;
  wait?: boolean;
}

export function addLaunch(program: Command): void {
  program
    .command('launch')
    .description('lease a GPU slice')
    .requiredOption('--gpus <count>', 'number of GPUs', wholeNumber)
    .option('--project <id>', 'project; needed when you have several')
    .option('--sku <sku>', 'product', 'h200-sxm-slice')
    .option('--image <image>', 'image', 'H200-ubuntu-24.04-gpuaas-slice')
    .option('--region <region>', 'region', 'uae-north-1')
    .option('--name <name>', 'name; one is made up when left out')
    .option('--queue', 'wait in line when no node has room')
    .option('--max-duration <seconds>', 'release it by itself after so long', seconds)
    .option('--wait', 'follow it until it is active')
    .action(async (options: LaunchOptions, command: Command) => {
      const { client, json } = openSession(command);
      const body = {
        project_id: await chooseProject(client, options.project),
        sku: options.sku,
        gpu_count: options.gpus,
        image: options.image,
        region: options.region,
        ...(options.name ? { name: options.name } : {}),
        ...(options.queue ? { when_unavailable: 'queue' as const } : {}),
        ...(options.maxDuration ? { max_duration_seconds: options.maxDuration } : {}),
      };
      const launched = await unwrap(client.POST('/api/v1/allocations', { body }));
      const allocation = options.wait
        ? await followAllocation(client, launched.id, 'active', json)
        : launched;
      print(json, allocation, () => describe(allocation));
    });
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d?$/.test(text)) throw new InvalidArgumentError('give a whole number of GPUs');
  return Number(text);
}
