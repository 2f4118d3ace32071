import { Button as BaseButton } from '@base-ui/react/button';
import { LoaderCircle } from 'lucide-react';
import { useId, type ReactNode } from 'react';
import { useLostAt } from '../../live/connection.ts';
import { buttonClass, type ButtonStyle } from './button-class.ts';
import { Tooltip } from '../tooltip.tsx';

interface ButtonProps extends ButtonStyle {
  children: ReactNode;
  onClick?: () => void;
  type?: 'button' | 'submit';
  /** Why the button is disabled. It stays focusable and shows the reason. */
  disabledReason?: string | null | undefined;
  /** Its work is running. */
  busy?: boolean;
  className?: string;
  /** Accessible name of a button that shows only an icon. */
  label?: string;
}

const OFFLINE = 'Offline: the server does not answer.';

export function Button({
  children,
  onClick,
  type = 'button',
  disabledReason: given,
  busy,
  className,
  label,
  ...look
}: ButtonProps) {
  const reasonId = useId();
  const isLost = useLostAt() !== null;
  // Buttons that submit, destroy or need a permission change something on the server.
  const changes = type === 'submit' || look.variant === 'danger' || given !== undefined;
  const disabledReason = given ?? (isLost && changes ? OFFLINE : null);
  return (
    <>
      <Tooltip text={disabledReason}>
        <BaseButton
          type={type}
          onClick={onClick}
          disabled={Boolean(disabledReason) || Boolean(busy)}
          focusableWhenDisabled
          aria-describedby={disabledReason ? reasonId : undefined}
          aria-busy={busy}
          aria-label={label}
          title={label}
          className={`${buttonClass(look)} ${className ?? ''}`}
        >
          {busy && <LoaderCircle aria-hidden className="size-3.5 animate-spin" />}
          {children}
        </BaseButton>
      </Tooltip>
      {disabledReason && (
        <span id={reasonId} className="sr-only">
          {disabledReason}
        </span>
      )}
    </>
  );
}
