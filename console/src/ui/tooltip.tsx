import { Tooltip as BaseTooltip } from '@base-ui/react/tooltip';
import type { ReactElement } from 'react';

interface TooltipProps {
  /** Empty text shows no tooltip. */
  text: string | null | undefined;
  children: ReactElement<Record<string, unknown>>;
}

export function Tooltip({ text, children }: TooltipProps) {
  return (
    <BaseTooltip.Root disabled={!text}>
      <BaseTooltip.Trigger render={children} closeOnClick={false} />
      <BaseTooltip.Portal>
        <BaseTooltip.Positioner sideOffset={6} collisionPadding={8} className="z-50">
          <BaseTooltip.Popup className="max-w-72 rounded-md border border-line bg-raised px-2.5 py-1.5 text-xs text-ink shadow-pop">
            {text}
          </BaseTooltip.Popup>
        </BaseTooltip.Positioner>
      </BaseTooltip.Portal>
    </BaseTooltip.Root>
  );
}
