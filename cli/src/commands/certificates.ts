import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { components } from '@gpuaas/sdk/contract';
import { paginate } from '@gpuaas/sdk/paginate';
import { unwrap } from '@gpuaas/sdk/problem';
import type { PublishedKey } from '@gpuaas/sdk/wipe-certificates';
import { outputOptions, print } from '../print.ts';
import { formatTable } from '../table.ts';
import { openSession } from '../session.ts';
import type { Verdict } from '../verify-certificates.ts';

type Wipe = components['schemas']['WipeCertificate'];

/** All of them: a disk that could not be proven clean was wiped many times. */
function wipesOf(client: ReturnType<typeof openSession>['client'], allocationId: string) {
  const path = { allocation_id: allocationId };
  return paginate((page) =>
    unwrap(
      client.GET('/api/v1/allocations/{allocation_id}/wipe-certificates', {
        params: { path, query: { limit: 200, ...page } },
      }),
    ),
  );
}

export function addCertificates(program: Command): void {
  const certificates = program.command('certificates').description('signed wipe certificates');
  certificates
    .command('list')
    .description('list the certificates of an allocation')
    .argument('<allocation>', 'allocation id')
    .action(async (allocation: string, _options, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const items: Wipe[] = [];
      for await (const wipe of wipesOf(client, allocation)) items.push(wipe);
      const page = { items, next_page: null };
      print(session, page, () => {
        const rows = page.items.map((c) => [
          c.id,
          c.device_serial,
          c.method,
          c.verified ? 'verified' : 'not verified',
          c.finished_at,
        ]);
        return formatTable([['ID', 'DEVICE', 'METHOD', 'RESULT', 'FINISHED'], ...rows]);
      });
    });
  certificates
    .command('download')
    .description('save each certificate of an allocation to a file')
    .argument('<allocation>', 'allocation id')
    .option('--to <folder>', 'target folder', '.')
    .action(async (allocation: string, options: { to: string }, command: Command) => {
      const session = openSession(command);
      const { client } = session;
      const path = { allocation_id: allocation };
      const files: string[] = [];
      for await (const { id } of wipesOf(client, allocation)) {
        const signed = await unwrap(
          client.GET('/api/v1/allocations/{allocation_id}/wipe-certificates/{certificate_id}', {
            params: { path: { ...path, certificate_id: id } },
          }),
        );
        const file = join(options.to, `wipe-certificate-${id}.json`);
        await writeFile(file, `${JSON.stringify(signed, null, 2)}\n`);
        files.push(file);
      }
      print(session, { files }, () => files.join('\n'));
    });
  certificates
    .command('keys')
    .description('print the published keys; save them to verify offline')
    .action(async (_options, command: Command) => {
      const { client } = openSession(command);
      const items: PublishedKey[] = [];
      const keys = paginate((page) =>
        unwrap(client.GET('/api/v1/wipe-certificate-keys', { params: { query: { ...page } } })),
      );
      for await (const key of keys) items.push(key);
      print({ json: true }, { items, next_page: null }, () => '');
    });
  certificates
    .command('chain')
    .description('print all certificates of the platform, one per line, for auditors')
    .action(async (_options, command: Command) => {
      const { client } = openSession(command);
      const chain = paginate((page) =>
        unwrap(client.GET('/api/v1/admin/wipe-certificates', { params: { query: { limit: 200, ...page } } })),
      );
      for await (const signed of chain) process.stdout.write(`${JSON.stringify(signed)}\n`);
    });
  certificates
    .command('verify')
    .description('verify certificate files offline against saved keys')
    .argument('<files...>', 'certificate or chain files')
    .requiredOption('--keys <file>', 'output of `gpuaas certificates keys`')
    .option('--chain', 'also verify that the chain is complete')
    .action(async (files: string[], options: { keys: string; chain?: boolean }, command: Command) => {
      const { verifyFiles } = await import('../verify-certificates.ts');
      const verdict = await verifyFiles(files, options.keys, options.chain ?? false);
      if (verdict.findings.length > 0) process.exitCode = 1;
      print(outputOptions(command), verdict, () => describe(verdict));
    });
}

function describe({ checked, findings, head }: Verdict): string {
  const lines = findings.map(({ sequence, kind, detail }) => `${sequence}  ${kind}  ${detail}`);
  if (head) lines.push(`head ${head.sequence}:${head.hash}`);
  const verdict = findings.length === 0 ? 'all valid' : `${findings.length} findings`;
  return [...lines, `${checked} checked, ${verdict}`].join('\n');
}
