import { Command } from 'commander';
import { addContractCommands, describeGroups } from './contract-commands/add-contract-commands.ts';
import { addApi } from './commands/api.ts';
import { addApiKeys } from './commands/api-keys.ts';
import { addCertificates } from './commands/certificates.ts';
import { addCompletion } from './commands/completion.ts';
import { addExtend } from './commands/extend.ts';
import { addInvitations } from './commands/invitations.ts';
import { addLaunch } from './commands/launch.ts';
import { addList } from './commands/list.ts';
import { addLogin } from './commands/login.ts';
import { addLogout } from './commands/logout.ts';
import { addMe } from './commands/me.ts';
import { addMembers } from './commands/members.ts';
import { addRelease } from './commands/release.ts';
import { addShow } from './commands/show.ts';
import { addSkus } from './commands/skus.ts';
import { addSpend } from './commands/spend.ts';
import { addSshKeys } from './commands/ssh-keys.ts';

export function createProgram(): Command {
  const program = new Command('gpuaas')
    .description('Lease GPU slices from the command line.')
    .version('0.1.0')
    .option(
      '--url <url>',
      'address of the platform (GPUAAS_URL)',
      process.env['GPUAAS_URL'] ?? 'http://127.0.0.1:8080',
    )
    .option('--api-key <key>', 'API key (GPUAAS_API_KEY)')
    .option('--json', 'print the answer as JSON')
    .exitOverride();
  for (const add of [
    addLogin,
    addLogout,
    addMe,
    addSkus,
    addLaunch,
    addList,
    addShow,
    addRelease,
    addExtend,
    addMembers,
    addInvitations,
    addApiKeys,
    addSshKeys,
    addSpend,
    addCertificates,
    addApi,
    addCompletion,
  ])
    add(program);
  program.command('admin').description('for operators of the platform');
  addContractCommands(program);
  describeGroups(program);
  for (const command of everyCommand(program)) command.exitOverride();
  return program;
}

function* everyCommand(command: Command): Generator<Command> {
  for (const child of command.commands) {
    yield child;
    yield* everyCommand(child);
  }
}
