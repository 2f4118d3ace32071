import type { Command } from 'commander';
import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { gpuCount } from '../gpu-count.ts';
import { completeOrder } from '../launch/complete-order.ts';
import { readOffer } from '../launch/offer.ts';
import { paint } from '../paint.ts';
import { print } from '../print.ts';
import { seconds } from '../seconds.ts';
import { chooseProject, openSession } from '../session.ts';
import { money } from '../table.ts';

type Explanation = components['schemas']['PlacementExplanation'];

interface ExplainOptions {
  gpus: number;
  sku?: string;
  region?: string;
  project?: string;
  maxDuration?: number;
}

export function addExplain(program: Command): void {
  program
    .command('explain')
    .description('would a launch fit, why not, what would, when, and for how much')
    .requiredOption('--gpus <count>', 'number of GPUs', gpuCount)
    .option('--sku <sku>', 'product; what gpuaas launch would take when left out')
    .option('--region <region>', 'region; what gpuaas launch would take when left out')
    .option('--project <id or name>', 'project; needed when you have several')
    .option('--max-duration <seconds>', 'how long it would last', seconds)
    .action(async (options: ExplainOptions, command: Command) => {
      const session = openSession(command);
      const [project_id, offer] = await Promise.all([
        chooseProject(session, options.project),
        readOffer(session.client),
      ]);
      const { sku, gpu_count, region } = completeOrder(offer, { ...options, image: 'none' });
      const body = {
        project_id,
        sku,
        gpu_count,
        region,
        ...(options.maxDuration !== undefined && { max_duration_seconds: options.maxDuration }),
      };
      const answer = await unwrap(session.client.POST('/api/v1/placements/explain', { body }));
      print(session, answer, () => explained(answer, `${gpu_count} × ${sku} in ${region}`));
    });
}

function explained(answer: Explanation, asked: string): string {
  const { fits, nearest, expected_at: expectedAt, price, quota, reasons, nodes } = answer;
  const lines = [
    fits ? paint('green', `${asked} fits now.`) : paint('yellow', `${asked} does not fit now.`),
    `  price     ${money(price.per_hour)} per hour`,
  ];
  if (price.for_max_duration) lines.push(`  in all    ${money(price.for_max_duration)}`);
  if (!fits) {
    lines.push(`  would fit ${nearest ? `${nearest.gpu_count} GPUs` : 'nothing'}`);
    lines.push(`  expected  ${expectedAt ?? 'no lease that has to go has a known end'}`);
  }
  for (const { nodes: count, reason } of reasons)
    lines.push(`  ${count} ${count === 1 ? 'node' : 'nodes'} ${reason}`);
  for (const { holder, measure, limit, used } of quota?.exceeded ?? [])
    lines.push(paint('red', `  quota     ${measure} of the ${holder.type}: ${used} of ${limit} are used`));
  for (const { hostname, free_gpus: free, rejected_by: by } of nodes ?? [])
    lines.push(`  ${hostname}  ${free} free${by.length > 0 ? `, against it: ${by.join(', ')}` : ''}`);
  if (!fits) lines.push(paint('cyan', 'Next: gpuaas launch --queue waits in line for it.'));
  return lines.join('\n');
}
