import type { CreateAllocation } from '../api/types.ts';
import { CopyLine } from '../ui/copy-line.tsx';
import { asCli, asCurl } from './equivalent-commands.ts';

/** The same launch for those who script it. */
export function EquivalentPanel({ body }: { body: CreateAllocation }) {
  return (
    <details className="rounded-lg border border-line bg-surface p-4 text-sm sm:p-5">
      <summary className="cursor-pointer font-medium">The same on the command line</summary>
      <div className="flex flex-col gap-3 pt-3">
        <CopyLine label="gpuaas command" value={asCli(body)} />
        <CopyLine label="curl command" value={asCurl(body, location.origin)} />
      </div>
    </details>
  );
}
