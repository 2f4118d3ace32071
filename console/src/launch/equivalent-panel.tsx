import type { CreateAllocation } from '../api/types.ts';
import { CopyLine } from '../ui/actions/copy-line.tsx';
import { toCliCommand, toCurlCommand } from './equivalent-commands.ts';

/** The launch as commands, for scripts. */
export function EquivalentPanel({ body }: { body: CreateAllocation }) {
  return (
    <details className="rounded-lg border border-line bg-surface p-4 text-sm sm:p-5">
      <summary className="cursor-pointer font-medium">Run it from the CLI or API</summary>
      <div className="flex flex-col gap-3 pt-3">
        <CopyLine label="gpuaas command" value={toCliCommand(body)} />
        <CopyLine label="curl command" value={toCurlCommand(body, location.origin)} />
      </div>
    </details>
  );
}
