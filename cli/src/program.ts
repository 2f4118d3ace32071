import { Command } from 'commander';
import { contractVersion } from '@gpuaas/sdk/operations';
import { addContractCommands, describeGroups } from './contract-commands/add-contract-commands.ts';
import { addAdmin } from './commands/admin/admin.ts';
import { addApi } from './commands/api.ts';
import { addApiKeys } from './commands/account/api-keys.ts';
import { addApps } from './commands/apps.ts';
import { addCertificates } from './commands/certificates.ts';
import { addCompletion } from './commands/completion.ts';
import { addCost } from './commands/cost.ts';
import { addDoctor } from './commands/doctor.ts';
import { addExplain } from './commands/explain.ts';
import { addContext } from './commands/account/context.ts';
import { addConfigSsh } from './commands/reach/config-ssh.ts';
import { addCp } from './commands/reach/cp.ts';
import { addForward } from './commands/reach/forward.ts';
import { addSsh } from './commands/reach/ssh.ts';
import { addTerminal } from './commands/reach/terminal.ts';
import { addExtend } from './commands/extend.ts';
import { addInvitations } from './commands/invitations.ts';
import { addLaunch } from './commands/launch.ts';
import { addList } from './commands/list.ts';
import { addLogin } from './commands/account/login.ts';
import { addLogout } from './commands/account/logout.ts';
import { addLogs } from './commands/logs.ts';
import { addMe } from './commands/account/me.ts';
import { addMembers } from './commands/members.ts';
import { addOpen } from './commands/open.ts';
import { addRelease } from './commands/release.ts';
import { addShow } from './commands/show.ts';
import { addSkus } from './commands/skus.ts';
import { addTop } from './commands/top.ts';
import { addWatch } from './commands/watch.ts';
import { addSpend } from './commands/spend.ts';
import { addSshKeys } from './commands/account/ssh-keys.ts';

const EPILOGUE = `
Exit codes: 0 done, 1 refused or failed, 2 wrong usage or cancelled, 4 not signed in.
NO_COLOR does without colours. Without a terminal nothing is asked.`;

/** `json`: errors are printed as JSON by the caller, not as text here. */
export function createProgram({ json = false }: { json?: boolean } = {}): Command {
  const program = new Command('gpuaas')
    .description('Lease GPUs and run a GPU cloud from the command line.')
    .version(contractVersion)
    .option('--context <name>', 'named server (GPUAAS_CONTEXT); see gpuaas context')
    .option('--url <url>', 'server URL (GPUAAS_URL)')
    .option('--api-key <key>', 'API key (GPUAAS_API_KEY)')
    .option('--json', 'print JSON')
    .option('--fields <names>', 'only these fields, for example id,name,quote.currency')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', EPILOGUE)
    .configureOutput(json ? { outputError: () => undefined } : {})
    .exitOverride();
  for (const add of [
    addLogin,
    addLogout,
    addContext,
    addMe,
    addSkus,
    addExplain,
    addLaunch,
    addList,
    addShow,
    addWatch,
    addTop,
    addLogs,
    addOpen,
    addRelease,
    addApps,
    addExtend,
    addSsh,
    addCp,
    addForward,
    addTerminal,
    addConfigSsh,
    addMembers,
    addInvitations,
    addApiKeys,
    addSshKeys,
    addSpend,
    addCost,
    addCertificates,
    addApi,
    addDoctor,
    addCompletion,
    addAdmin,
  ])
    add(program);
  addContractCommands(program);
  describeGroups(program);
  for (const command of everyCommand(program)) {
    command.exitOverride();
    if (json) command.configureOutput({ outputError: () => undefined });
  }
  return program;
}

function* everyCommand(command: Command): Generator<Command> {
  for (const child of command.commands) {
    yield child;
    yield* everyCommand(child);
  }
}
