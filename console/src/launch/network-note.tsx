import { Network } from 'lucide-react';

/** The machine's network; there is one kind, so there is no choice. */
export function NetworkNote() {
  return (
    <div className="flex gap-3 text-sm">
      <Network aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-faint" />
      <div>
        <p className="font-medium">Network</p>
        <p className="text-ink-muted">
          Private address and a dedicated fabric function per GPU. The web terminal and{' '}
          <code>gpuaas ssh</code> work from anywhere through the platform. No public address
        </p>
      </div>
    </div>
  );
}
