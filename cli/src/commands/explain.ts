import type { Command } from 'commander';
import type { components } from '@gpuaas/sdk/contract';
import { unwrap } from '@gpuaas/sdk/problem';
import { gpuCount } from '../gpu-count.ts';
import { completeOrder } from '../launch/complete-order.ts';
import { readOffer } from '../launch/offer.ts';
import { colorize } from '../colorize.ts';
import { print } from '../print.ts';
import { parseSeconds } from '../seconds.ts';
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
    .description('check whether a launch is possible, and its price; exit code 1 if not')
    .requiredOption('--gpus <count>', 'number of GPUs', gpuCount)
    .option('--sku <sku>', 'product (default: same as gpuaas launch)')
    .option('--region <region>', 'region (default: same as gpuaas launch)')
    .option('--project <id or name>', 'project; required if you have several')
    .option('--max-duration <seconds>', 'lease duration in seconds', parseSeconds)
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
      if (!wouldLaunch(answer)) process.exitCode = 1;
    });
}

/** Capacity, quota and money all allow it. */
function wouldLaunch({ fits, quota, funds }: Explanation): boolean {
  return fits && (quota?.allows ?? true) && (funds?.allows ?? true);
}

function verdict(answer: Explanation, asked: string): string {
  const { fits, quota, funds } = answer;
  if (wouldLaunch(answer)) return colorize('green', `${asked} can be launched now.`);
  const against = [
    !fits && 'no capacity',
    quota && !quota.allows && 'over quota',
    funds && !funds.allows && 'not enough money',
  ].filter(Boolean);
  return colorize('yellow', `${asked} cannot be launched now: ${against.join(', ')}.`);
}

function explained(answer: Explanation, asked: string): string {
  const { fits, nearest, expected_at: expectedAt, price, quota, funds, reasons, nodes } = answer;
  const lines = [verdict(answer, asked), `  price     ${money(price.per_hour)} per hour`];
  if (price.for_max_duration) lines.push(`  in all    ${money(price.for_max_duration)}`);
  if (!fits) {
    lines.push(`  would fit ${nearest ? `${nearest.gpu_count} GPUs` : 'nothing'}`);
    lines.push(`  expected  ${expectedAt ?? 'no estimate: running leases have no end time'}`);
  }
  for (const { nodes: count, reason } of reasons)
    lines.push(`  ${count} ${count === 1 ? 'node' : 'nodes'} ${reason}`);
  for (const { holder, measure, limit, used } of quota?.exceeded ?? [])
    lines.push(colorize('red', `  quota     ${measure} of the ${holder.type}: ${used} of ${limit} are used`));
  if (funds && !funds.allows) lines.push(colorize('red', `  money     ${funds.detail ?? funds.code ?? ''}`));
  for (const { hostname, free_gpus: free, rejected_by: by } of nodes ?? [])
    lines.push(`  ${hostname}  ${free} free${by.length > 0 ? `, against it: ${by.join(', ')}` : ''}`);
  if (!fits && (quota?.allows ?? true) && (funds?.allows ?? true))
    lines.push(colorize('cyan', 'Next: gpuaas launch --queue'));
  return lines.join('\n');
}
