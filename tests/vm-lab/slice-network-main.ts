/** Runs in the lab's namespaces: the driver's network, with commands to serve ports or to drop orphans. */
import { runCommand } from '@gpuaas/node-agent/host/linux/commands';
import { openHostFiles } from '@gpuaas/node-agent/host/linux/host-files';
import { openSliceNetwork } from '@gpuaas/node-agent/host/linux/network/slice-network';
import type { SlicePort } from '@gpuaas/node-agent/host/linux/network/slice-ports';

const [dir = '', bridge = '', command = '', list = '[]'] = process.argv.slice(2);
const network = openSliceNetwork({
  dir,
  bridge,
  out: { uplink: null, closedNetworks: [] },
  files: openHostFiles('/'),
  run: runCommand,
});
await network.check();
if (command === 'serve') {
  for (const port of JSON.parse(list) as SlicePort[]) {
    await network.reserve(port);
    await network.guard(port);
  }
} else {
  console.log(JSON.stringify(await network.dropStale(new Set(JSON.parse(list) as string[]))));
}
