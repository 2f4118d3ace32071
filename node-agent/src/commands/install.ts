import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { RunCommand } from '../host/linux/commands.ts';
import { parseEnrolmentToken } from '../identity/enrolment-token.ts';
import { CommandError, requireRoot, type CommandOutput } from './command.ts';
import { environmentFile, SERVICE, servicePaths, unitFile } from './service-files.ts';

export interface InstallOptions {
  server: string;
  hostname: string;
  /** Null when the host is enrolled already. */
  token: string | null;
  /** How the service starts the agent. */
  command: readonly string[];
  root: string;
  dryRun: boolean;
  isRoot: boolean;
}

interface PlannedFile {
  path: string;
  content: string;
  mode: number;
  /** Shown instead of the content. */
  secret?: string;
}

/** Installs and starts the service. Running it again updates the files and changes nothing else. */
export async function install(options: InstallOptions, run: RunCommand, print: CommandOutput): Promise<void> {
  const paths = servicePaths(options.root);
  if (!URL.canParse(options.server) || new URL(options.server).protocol !== 'https:') {
    throw new CommandError(`--server must be an https URL, not ${options.server}`);
  }
  if (!/^[a-zA-Z0-9][a-zA-Z0-9.-]{0,62}$/.test(options.hostname)) {
    throw new CommandError(`--hostname ${options.hostname} is not a host name`);
  }
  const files: PlannedFile[] = [
    { path: paths.environment, content: environmentFile(options), mode: 0o600 },
    { path: paths.unit, content: unitFile(options.command), mode: 0o644 },
  ];
  if (options.token) {
    const { text, caFingerprint } = parseEnrolmentToken(options.token);
    files.push({
      path: paths.token,
      content: `${text}\n`,
      mode: 0o600,
      secret: `token for CA ${caFingerprint}`,
    });
  } else if (!existsSync(`${paths.state}/identity.json`)) {
    throw new CommandError('this host is not enrolled: give --token; an operator mints one');
  }
  const calls = [
    ['systemctl', 'daemon-reload'],
    ['systemctl', 'enable', SERVICE],
    ['systemctl', 'restart', SERVICE],
  ];
  if (options.dryRun) {
    print(`mkdir ${paths.images} (0700)`);
    for (const { path, content, mode, secret } of files) {
      print(`write ${path} (${mode.toString(8)})\n${secret ?? content.trimEnd()}`);
    }
    for (const call of calls) print(`run ${call.join(' ')}`);
    return;
  }
  requireRoot(options.isRoot, 'install');
  mkdirSync(paths.images, { recursive: true, mode: 0o700 });
  for (const { path, content, mode } of files) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content, { mode });
    chmodSync(path, mode);
  }
  for (const [tool = '', ...args] of calls) {
    const result = await run(tool, args);
    if (result?.code !== 0) {
      throw new CommandError(
        `${tool} ${args.join(' ')} failed: ${result?.stderr.trim() ?? 'it is not installed'}`,
      );
    }
  }
  print(
    `installed; follow it with "journalctl -fu ${SERVICE}", check the host with "gpuaas-node-agent doctor"`,
  );
}
