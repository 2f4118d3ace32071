import { Network } from 'lucide-react';

/** What network a machine gets; there is one kind, so there is nothing to choose. */
export function NetworkNote() {
  return (
    <div className="flex gap-3 text-sm">
      <Network aria-hidden className="mt-0.5 size-4 shrink-0 text-ink-faint" />
      <div>
        <p className="font-medium">Network</p>
        <p className="text-ink-muted">
          A private address, and a fabric function of its own with each GPU. The web terminal and{' '}
          <code>gpuaas ssh</code> reach it from anywhere, through the platform. Nothing of it is public.
        </p>
      </div>
    </div>
  );
}
