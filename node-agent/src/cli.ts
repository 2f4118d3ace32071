#!/usr/bin/env node
import { hostname } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { bootstrap } from './commands/bootstrap/bootstrap.ts';
import { CommandError } from './commands/command.ts';
import { doctor } from './commands/doctor.ts';
import { firmware } from './commands/firmware/firmware.ts';
import { isFirmwareProfile } from './commands/firmware/plan-firmware.ts';
import { install } from './commands/install.ts';
import { uninstall } from './commands/uninstall.ts';
import { runCommand } from './host/linux/commands.ts';
import { isNetworkProfile } from './host/linux/network/profiles.ts';

const USAGE = `usage: gpuaas-node-agent <command>

  run                     run the agent with the settings of the environment
  install --server URL --token TOKEN [--hostname NAME] [--dry-run]
  uninstall [--purge] [--dry-run]
  bootstrap [--apply] [--hugepages-gib N] [--bridge NAME] [--network-profile standard|throughput]   prepares this host for slices; prints the plan first
  firmware --profile slice-vm|baremetal [--apply]   sets adapters up for a profile, once; prints the plan first
  doctor [--json] [--hugepages-gib N]     what keeps this host from slices; exit code 1 if anything does

  --root DIR              work below this folder instead of /
`;

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const isRoot = process.getuid?.() === 0;

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      server: { type: 'string', default: 'https://127.0.0.1:8443' },
      token: { type: 'string' },
      hostname: { type: 'string', default: hostname().split('.')[0] ?? 'node' },
      root: { type: 'string', default: '/' },
      'dry-run': { type: 'boolean', default: false },
      purge: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      'hugepages-gib': { type: 'string', default: '0' },
      apply: { type: 'boolean', default: false },
      bridge: { type: 'string', default: 'ovsbr0' },
      'network-profile': { type: 'string', default: 'standard' },
      profile: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const { root, purge, json, server, 'dry-run': dryRun } = values;
  switch (values.help ? 'help' : positionals[0]) {
    case 'run':
      await import('./main.ts');
      return 0;
    case 'install': {
      const command = [process.execPath, fileURLToPath(new URL('main.ts', import.meta.url))];
      const token = values.token ?? process.env['GPUAAS_AGENT_TOKEN'] ?? null;
      const options = { server, hostname: values.hostname, token, command, root, dryRun, isRoot };
      await install(options, runCommand, print);
      return 0;
    }
    case 'uninstall':
      await uninstall({ root, purge, dryRun, isRoot }, runCommand, print);
      return 0;
    case 'bootstrap': {
      const { apply, bridge } = values;
      const hugepagesGib = wholeNumber(values['hugepages-gib']);
      const networkProfile = values['network-profile'];
      if (!isNetworkProfile(networkProfile))
        throw new CommandError(`there is no network profile ${networkProfile}`);
      const options = {
        ...{ root, hostname: values.hostname, bridge, hugepagesGib, networkProfile },
        ...{ apply, isRoot },
      };
      await bootstrap(options, runCommand, print);
      return 0;
    }
    case 'firmware': {
      const { apply, profile } = values;
      if (!isFirmwareProfile(profile)) throw new CommandError('--profile must be slice-vm or baremetal');
      await firmware({ root, profile, apply, isRoot }, runCommand, print);
      return 0;
    }
    case 'doctor': {
      const hugepagesGib = wholeNumber(values['hugepages-gib']);
      return await doctor({ root, json, hugepagesGib }, runCommand, print);
    }
    case 'help':
      print(USAGE);
      return 0;
    default:
      process.stderr.write(USAGE);
      return 2;
  }
}

function wholeNumber(text: string): number {
  if (!/^\d+$/.test(text)) throw new CommandError('--hugepages-gib must be a whole number');
  return Number(text);
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof CommandError) && !(error instanceof TypeError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error instanceof CommandError ? 1 : 2;
}
