import type { Kernel, KernelMessage } from '@jupyterlab/services';

export interface CellRun {
  status: string;
  count: number | null;
  stdout: string;
  stderr: string;
  /** Neighbouring pieces of one stream as one. */
  streams: [string, string][];
  /** Its plain text. */
  result: string | null;
  displays: [string, object][];
  types: string[];
  reply: KernelMessage.IExecuteReplyMsg['content'] | null;
}

/** Runs a cell with the client of JupyterLab; `seen` grows while it runs. */
export function startCell(
  kernel: Kernel.IKernelConnection,
  code: string,
): { seen: CellRun; ended: Promise<CellRun> } {
  const seen: CellRun = {
    status: 'running',
    count: null,
    stdout: '',
    stderr: '',
    streams: [],
    result: null,
    displays: [],
    types: [],
    reply: null,
  };
  const future = kernel.requestExecute({ code, stop_on_error: true });
  future.onIOPub = ({ header, content }) => {
    const type = header.msg_type;
    seen.types.push(type);
    if (type === 'stream') {
      const { name, text } = content as KernelMessage.IStreamMsg['content'];
      seen[name] += text;
      const last = seen.streams.at(-1);
      if (last?.[0] === name) last[1] += text;
      else seen.streams.push([name, text]);
    } else if (type === 'execute_result') {
      const { data } = content as KernelMessage.IExecuteResultMsg['content'];
      seen.result = data['text/plain'] as string;
    } else if (type === 'display_data' || type === 'update_display_data') {
      seen.displays.push([type, (content as KernelMessage.IDisplayDataMsg['content']).data]);
    }
  };
  const ended = future.done.then(({ content }) => {
    seen.status = content.status;
    seen.count = content.execution_count ?? null;
    seen.reply = content;
    return seen;
  });
  return { seen, ended };
}

export async function runCell(kernel: Kernel.IKernelConnection, code: string): Promise<CellRun> {
  return await startCell(kernel, code).ended;
}
