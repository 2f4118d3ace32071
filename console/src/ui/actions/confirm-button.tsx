import { useState, type ReactNode } from 'react';
import { Button } from './button.tsx';
import type { ButtonStyle } from './button-class.ts';
import { Field } from '../forms/field.tsx';
import { ConfirmDialog } from '../forms/confirm-dialog.tsx';

export interface ConfirmButtonProps extends ButtonStyle {
  label: string;
  /** Question in the dialog. */
  title: string;
  /** What the action destroys. */
  children: ReactNode;
  confirmLabel: string;
  /** What has to be typed first, such as the name of what is destroyed. */
  mustType?: string;
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
    mustType,
    disabledReason,
    act,
    variant = 'danger',
    size = 'sm',
  } = props;
  const [asking, setAsking] = useState(false);
  const [typed, setTyped] = useState('');
  const close = () => {
    setAsking(false);
    setTyped('');
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
        refusal={mustType !== undefined && typed !== mustType ? `Type ${mustType} to confirm.` : null}
        busy={act.isPending}
        error={act.error}
      >
        {children}
        {mustType !== undefined && (
          <div className="pt-3 text-ink">
            <Field label={`Type ${mustType} to confirm`} value={typed} onChange={setTyped} />
          </div>
        )}
      </ConfirmDialog>
    </>
  );
}
