import type { Command } from 'commander';
import { unwrap } from '@gpuaas/sdk/problem';
import { print } from '../print.ts';
import { money, formatTable } from '../table.ts';
import { openSession } from '../session.ts';

export function addSkus(program: Command): void {
  program
    .command('skus')
    .description('products with price and availability')
    .action(async (_options, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const skus = await unwrap(client.GET('/api/v1/skus'));
      print(session, skus, () => {
        const rows = skus.items.flatMap((sku) =>
          sku.availability.map((stock) => [
            sku.sku,
            stock.region,
            money(stock.price_per_gpu_hour),
            String(stock.gpus_available),
            String(stock.largest_slice),
          ]),
        );
        return formatTable([['SKU', 'REGION', 'PER GPU HOUR', 'FREE GPUS', 'LARGEST SLICE'], ...rows]);
      });
    });
}
