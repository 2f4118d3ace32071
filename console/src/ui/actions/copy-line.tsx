import { CopyButton } from './copy-button.tsx';

interface CopyLineProps {
  value: string;
  label: string;
}

/** A command, an address or a secret to copy. */
export function CopyLine({ value, label }: CopyLineProps) {
  return (
    <div className="flex items-start gap-2 rounded-md border border-line bg-sunken py-1.5 pr-1.5 pl-3">
      <pre
        aria-label={label}
        role="region"
        tabIndex={0}
        className="min-w-0 flex-1 py-0.5 font-mono text-xs leading-relaxed wrap-anywhere whitespace-pre-wrap"
      >
        {value}
      </pre>
      <CopyButton value={value} label={label} />
    </div>
  );
}
