import type { Deployment } from '../../../platform/maas/maas.ts';
import { SCRIPT_PROFILES, type Profile } from './profiles.ts';

export interface NewHost {
  hostname: string;
  profile: Profile;
  token: string;
}

/**
 * Script that a freshly deployed machine runs once: it installs the agent, prepares the host for its profile,
 * and enrols. The token can be used once and for this hostname only.
 */
export function buildUserData(host: NewHost, { nodeUrl, agentSetup }: Deployment): string {
  const name = quoted(host.hostname);
  return [
    '#!/bin/bash',
    '# Makes this machine a host of GPUaaS.',
    'set -euo pipefail',
    'umask 077',
    'export HOME="${HOME:-/root}"',
    ...(agentSetup === null ? [] : setupLines(agentSetup)),
    // A host without the firmware tool still enrols; its readiness check then lists what is missing.
    `gpuaas-node-agent firmware --profile ${SCRIPT_PROFILES[host.profile]} --apply || echo 'the firmware was not set up' >&2`,
    ...(host.profile === 'slice_vm' ? [`gpuaas-node-agent bootstrap --hostname ${name} --apply`] : []),
    `GPUAAS_AGENT_TOKEN=${quoted(host.token)} gpuaas-node-agent install --server ${quoted(nodeUrl)} --hostname ${name}`,
    ...(host.profile === 'slice_vm' ? rebootLines(name) : []),
    '',
  ].join('\n');
}

/** As base64, so that nothing in the script can end the surrounding text. */
function setupLines(script: string): string[] {
  return [
    'setup="$(mktemp)"',
    `base64 --decode > "$setup" <<< ${quoted(Buffer.from(script, 'utf8').toString('base64'))}`,
    'bash "$setup"',
    'rm -f "$setup"',
  ];
}

/** Kernel arguments and device bindings of slices hold from the next boot on. */
function rebootLines(name: string): string[] {
  return [
    `plan="$(gpuaas-node-agent bootstrap --hostname ${name})"`,
    'case "$plan" in *"reboot_required: yes"*) shutdown --reboot +1 ;; esac',
  ];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
