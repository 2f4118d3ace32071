/** Four slots of a node, three of them leased. */
export function Logo() {
  return (
    <span className="inline-flex items-center gap-2 font-semibold tracking-tight">
      <svg aria-hidden viewBox="0 0 20 20" className="size-5 fill-accent">
        <rect x="1" y="1" width="8" height="8" rx="1.5" />
        <rect x="11" y="1" width="8" height="8" rx="1.5" />
        <rect x="1" y="11" width="8" height="8" rx="1.5" />
        <rect x="11" y="11" width="8" height="8" rx="1.5" opacity="0.3" />
      </svg>
      GPUaaS
    </span>
  );
}
