import { appReasons, type AppReason } from '@gpuaas/sdk/app-reasons';
import { Tooltip } from '../ui/tooltip.tsx';

/** A reason in a table; its help text on hover. */
export function ReasonText({ reason }: { reason: AppReason | null }) {
  if (reason === null) return <span className="text-ink-faint">—</span>;
  const { title, help } = appReasons[reason];
  return (
    <Tooltip text={help}>
      <button type="button" className="relative z-10 cursor-help text-left underline decoration-dotted">
        {title}
      </button>
    </Tooltip>
  );
}

/** What a reason means and what unblocks it. */
export function ReasonHelp({ reason }: { reason: AppReason }) {
  return <p className="text-sm text-ink-muted">{appReasons[reason].help}</p>;
}
