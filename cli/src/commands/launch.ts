import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { contentOf } from '../contract-commands/read-body.ts';
import { describe } from '../describe-allocation.ts';
import { followAllocation } from '../follow-allocation.ts';
import { gpuCount } from '../gpu-count.ts';
import { completeOrder, type OrderFlags } from '../launch/complete-order.ts';
import { readOffer } from '../launch/offer.ts';
import { print } from '../print.ts';
import { seconds } from '../seconds.ts';
import { chooseProject, openSession } from '../session.ts';
import { isInteractive } from '../terminal/is-interactive.ts';
import { UsageError } from '../usage-error.ts';

interface LaunchOptions extends OrderFlags {
  project?: string;
  userData?: string;
  wait?: boolean;
}

export function addLaunch(program: Command): void {
  program
    .command('launch')
    .description('lease GPUs; asks for what you do not say when it runs in a terminal')
    .option('--gpus <count>', 'number of GPUs', gpuCount)
    .option('--project <id or name>', 'project; needed when you have several')
    .option('--sku <sku>', 'product; a slice of that many GPUs when left out')
    .option('--image <image>', 'image; the first plain one when left out')
    .option('--region <region>', 'region; one that has room when left out')
    .option('--ssh-key <id or name...>', 'who may log in; all your own keys when left out')
    .option('--name <name>', 'name; one is made up when left out')
    .option('--queue', 'wait in line when no node has room')
    .option('--max-duration <seconds>', 'release it by itself after so long', seconds)
    .option('--user-data <text>', 'what it does when it first boots; @file, or - for standard input')
    .option('--wait', 'follow it until it is active; a terminal does')
    .option('--no-wait', 'do not, not even in a terminal')
    .action(async (options: LaunchOptions, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const asks = isInteractive(session);
      if (options.gpus === undefined && !asks)
        throw new UsageError('Say how many GPUs, such as: gpuaas launch --gpus 1');
      const [projectId, offer] = await Promise.all([
        chooseProject(session, options.project),
        readOffer(client),
      ]);
      const order =
        options.gpus === undefined
          ? await (await import('../launch/ask-for-order.ts')).askForOrder(offer, options)
          : completeOrder(offer, { ...options, gpus: options.gpus });
      const body = {
        project_id: projectId,
        ...order,
        ...(options.userData !== undefined && { user_data: await contentOf(options.userData) }),
      };
      const launched = await unwrap(client.POST('/api/v1/allocations', { body }));
      const allocation =
        (options.wait ?? asks) ? await followAllocation(session, launched.id, 'active') : launched;
      print(session, allocation, () => describe(allocation));
    });
}
