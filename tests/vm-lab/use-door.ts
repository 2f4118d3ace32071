import { expect } from 'vitest';
import { appIs, publish, runApp, shellManifest, stopApp } from '../harness/apps/apps.ts';
import { inGuest } from '../harness/apps/sabotage.ts';
import { eventually } from '../harness/eventually.ts';
import type { LabMachine } from './lab-machines.ts';

const SLOW_MS = 120_000;
/** Prints the status line of each path; `own` sends the instance's token. */
const ASK = `
ask() { busybox wget -q -S -O /dev/null "$@" 2>&1 | sed -n 's/^ *HTTP[^ ]* \\([0-9]*\\).*/\\1/p; s/.*error: HTTP[^ ]* \\([0-9]*\\).*/\\1/p' | tail -n 1; }
own() { echo "$1 $(ask --header "Authorization: Bearer $GPUAAS_API_KEY" "$GPUAAS_URL$1")"; }
`;

/** An instance asks the platform from inside the machine: what its manifest declares, nothing else, while it lives. */
export async function useDoor(open: () => Promise<LabMachine>): Promise<void> {
  const { platform, allocationId, close } = await open();
  try {
    const { operator, member, projectId, baseUrl } = platform;
    const one = `/api/v1/allocations/${allocationId}`;
    const script = `${ASK}
      until [ -n "$(ask "$GPUAAS_URL/")" ]; do sleep 1; done
      own ${one}; own /api/v1/me; own '/api/v1/project-secrets?project_id=${projectId}'; own /metrics
      echo "without a token $(ask "$GPUAAS_URL${one}")"
      echo "$GPUAAS_API_KEY" > ~/token; echo asked; while :; do sleep 1; done`;
    await publish(
      operator,
      'caller',
      shellManifest(script, { kind: 'service', platform_access: ['allocation.read'] }),
    );
    const { id } = await runApp(member, {
      project_id: projectId,
      app_slug: 'caller',
      allocation_id: allocationId,
    });
    await appIs(member, id, 'running');
    const said = await eventually(
      'the answers',
      async () => {
        const text = await inGuest(platform, allocationId, 'cat ~/.gpuaas/members/*/log.*');
        return text.includes('asked') ? text : null;
      },
      SLOW_MS,
    );
    expect(said.split('\n')).toEqual([
      `${one} 200`,
      '/api/v1/me 403',
      `/api/v1/project-secrets?project_id=${projectId} 403`,
      '/metrics 404',
      'without a token 401',
      'asked',
    ]);
    const token = await inGuest(platform, allocationId, 'cat ~/token');
    const ask = async (): Promise<number> => {
      const answer = await fetch(`${baseUrl}${one}`, { headers: { authorization: `Bearer ${token}` } });
      return answer.status;
    };
    expect(await ask()).toBe(200);
    await stopApp(member, id);
    await appIs(member, id, 'stopped');
    expect(await ask()).toBe(401);
    const door = `${ASK} ask http://127.0.0.1:6411/ | grep . || echo closed`;
    await eventually(
      'the door to close',
      async () => ((await inGuest(platform, allocationId, door)) === 'closed' ? true : null),
      SLOW_MS,
    );
  } finally {
    await close();
  }
}
