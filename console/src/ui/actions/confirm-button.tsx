import { useState, type ReactNode } from 'react';
import { Button } from './button.tsx';
import type { ButtonStyle } from './button-class.ts';
import { ConfirmDialog } from '../forms/confirm-dialog.tsx';

export interface ConfirmButtonProps extends ButtonStyle {
  label: string;
  /** Question in the dialog. */
  title: string;
  /** What the action destroys. */
  children: ReactNode;
  confirmLabel: string;
  disabledReason?: string | null | undefined;
  act: {
    mutate: (input: void, options: { onSuccess: () => void }) => void;
    isPending: boolean;
    error: Error | null;
    reset: () => void;
  };
}

/** A button that asks for confirmation before it destroys something. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const {
    label,
    title,
    children,
    confirmLabel,
    disabledReason,
    act,
    variant = 'danger',
    size = 'sm',
  } = props;
  const [asking, setAsking] = useState(false);
  const close = () => {
    setAsking(false);
    act.reset();
  };
  return (
    <>
      <Button variant={variant} size={size} disabledReason={disabledReason} onClick={() => setAsking(true)}>
        {label}
      </Button>
      <ConfirmDialog
        open={asking}
        onClose={close}
        title={title}
        confirmLabel={confirmLabel}
        onConfirm={() => act.mutate(undefined, { onSuccess: close })}
        busy={act.isPending}
        error={act.error}
      >
        {children}
      </ConfirmDialog>
    </>
  );
}
