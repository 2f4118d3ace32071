import type { Command } from 'commander';
import { readMoney } from '../contract-commands/flags.ts';
import { readTextArgument } from '../contract-commands/read-body.ts';
import { describeAllocation } from '../describe-allocation.ts';
import { followAllocation } from '../follow-allocation.ts';
import { gpuCount } from '../gpu-count.ts';
import { completeOrder, type LaunchFlags } from '../launch/complete-order.ts';
import { launchAtPrice, priceOf, type Money } from '../launch/launch-at-price.ts';
import { readOffer } from '../launch/offer.ts';
import { print } from '../print.ts';
import { parseSeconds } from '../seconds.ts';
import { chooseProject, openSession } from '../session.ts';
import { isInteractive } from '../terminal/is-interactive.ts';
import { UsageError } from '../usage-error.ts';

interface LaunchOptions extends LaunchFlags {
  project?: string;
  maxPrice?: Money;
  userData?: string;
  wait?: boolean;
}

export function addLaunch(program: Command): void {
  program
    .command('launch')
    .description('lease GPUs; prompts for missing options in a terminal')
    .option('--gpus <count>', 'number of GPUs', gpuCount)
    .option('--project <id or name>', 'project; required if you have several')
    .option('--sku <sku>', 'product (default: a slice with that many GPUs)')
    .option('--image <image>', 'image (default: the first base image)')
    .option('--region <region>', 'region (default: one with capacity)')
    .option('--ssh-key <id or name...>', 'SSH keys that can log in (default: all of yours)')
    .option('--name <name>', 'name (default: generated)')
    .option('--queue', 'queue the launch if there is no capacity')
    .option('--max-price <price>', 'refuse a higher price of a GPU hour, for example "3.50 USD"', readMoney)
    .option('--max-duration <seconds>', 'release automatically after this many seconds', parseSeconds)
    .option('--user-data <text>', 'what it does when it first boots; @file, or - for standard input')
    .option('--wait', 'wait until it is active (default in a terminal)')
    .option('--no-wait', 'return immediately')
    .action(async (options: LaunchOptions, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const asks = isInteractive(session);
      if (options.gpus === undefined && !asks)
        throw new UsageError('Missing --gpus, for example: gpuaas launch --gpus 1');
      const [projectId, offer] = await Promise.all([
        chooseProject(session, options.project),
        readOffer(client),
      ]);
      const order =
        options.gpus === undefined
          ? await (await import('../launch/prompt-for-order.ts')).promptForOrder(offer, options)
          : completeOrder(offer, { ...options, gpus: options.gpus });
      const body = {
        project_id: projectId,
        ...order,
        ...(options.userData !== undefined && { user_data: await readTextArgument(options.userData) }),
      };
      const launched = await launchAtPrice(client, body, priceOf(offer, order), options.maxPrice);
      const allocation =
        (options.wait ?? asks) ? await followAllocation(session, launched.id, 'active') : launched;
      print(session, allocation, () => describeAllocation(allocation));
    });
}
