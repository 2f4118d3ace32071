import { runOrThrow } from '../commands.ts';
import type { GuidHost } from './function-guids.ts';
import { deviceFolder, writeSysfs } from './sysfs.ts';

/** How a function is called in an InfiniBand fabric: eight bytes each, as `02:1a:…`. */
export interface FunctionGuids {
  node: string;
  port: string;
}

/** Storage of the GUIDs of an adapter's functions, by function number. */
export interface GuidTable {
  read(): Promise<FunctionGuids[]>;
  /** Also lets the function's port follow the adapter's port: it is down when created. */
  write(index: number, guids: FunctionGuids): Promise<void>;
}

const ARPHRD_INFINIBAND = '32';
const GUID = '((?:[0-9a-f]{2}:){7}[0-9a-f]{2})';
const VF_LINE = new RegExp(String.raw`^\s+vf (\d+) [^]*?NODE_GUID ${GUID}, PORT_GUID ${GUID}`, 'gm');

/** NVIDIA's driver has files for it; the kernel's driver takes it through the adapter's IPoIB interface. */
export function openGuidTable(host: GuidHost, adapter: string): GuidTable | null {
  const { files } = host.sysfs;
  const folder = `${deviceFolder(adapter)}/sriov`;
  if (files.list(folder).length > 0) return ofDriver(host, folder);
  const net = `${deviceFolder(adapter)}/net`;
  // A partition of the fabric is an interface too, but has a parent and no functions.
  const port = files
    .list(net)
    .find(
      (name) =>
        files.text(`${net}/${name}/type`) === ARPHRD_INFINIBAND && !files.exists(`${net}/${name}/parent`),
    );
  return port ? ofInterface(host, port) : null;
}

function ofDriver({ sysfs }: GuidHost, folder: string): GuidTable {
  const { files } = sysfs;
  return {
    read() {
      const indexes = files.list(folder).filter((name) => /^\d+$/.test(name));
      const ordered = indexes.toSorted((a, b) => Number(a) - Number(b));
      const text = (path: string): string => files.text(`${folder}/${path}`) ?? '';
      return Promise.resolve(ordered.map((at) => ({ node: text(`${at}/node`), port: text(`${at}/port`) })));
    },
    async write(index, { node, port }) {
      await writeSysfs(sysfs, 'functions_failed', `${folder}/${index}/node`, node);
      await writeSysfs(sysfs, 'functions_failed', `${folder}/${index}/port`, port);
      await writeSysfs(sysfs, 'functions_failed', `${folder}/${index}/policy`, 'Follow');
    },
  };
}

function ofInterface({ run }: GuidHost, port: string): GuidTable {
  const ip = (...words: string[]): Promise<string> =>
    runOrThrow(run, 'functions_failed', 'ip', ['link', ...words]);
  return {
    async read() {
      const guids: FunctionGuids[] = [];
      for (const [, index, node = '', portGuid = ''] of (await ip('show', 'dev', port)).matchAll(VF_LINE))
        guids[Number(index)] = { node, port: portGuid };
      return guids;
    },
    async write(index, { node, port: portGuid }) {
      const vf = ['set', 'dev', port, 'vf', String(index)];
      await ip(...vf, 'node_guid', node);
      await ip(...vf, 'port_guid', portGuid);
      await ip(...vf, 'state', 'auto');
    },
  };
}
