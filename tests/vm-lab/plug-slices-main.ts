/** Runs in the lab's namespaces: the host's network, brought to serve the ports it is given. */
import { runCommand } from '@gpuaas/node-agent/host/linux/commands';
import { openHostFiles } from '@gpuaas/node-agent/host/linux/host-files';
import { openSliceNetwork } from '@gpuaas/node-agent/host/linux/network/slice-network';
import type { SlicePort } from '@gpuaas/node-agent/host/linux/network/slice-ports';

const [dir = '', bridge = '', list = '[]'] = process.argv.slice(2);
const network = openSliceNetwork({ dir, bridge, files: openHostFiles('/'), run: runCommand });
await network.check();
for (const port of JSON.parse(list) as SlicePort[]) {
  await network.reserve(port);
  await network.guard(port);
}
