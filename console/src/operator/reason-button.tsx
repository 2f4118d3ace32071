import { useState, type ReactNode } from 'react';
import { Button } from '../ui/actions/button.tsx';
import type { ButtonStyle } from '../ui/actions/button-class.ts';
import { Field } from '../ui/forms/field.tsx';
import { FormDialog } from '../ui/forms/form-dialog.tsx';

interface ReasonButtonProps extends ButtonStyle {
  label: string;
  title: string;
  /** Effect of the action, or what it destroys. */
  children: ReactNode;
  submitLabel: string;
  disabledReason?: string | null;
  act: {
    mutate: (reason: string, options: { onSuccess: () => void }) => void;
    isPending: boolean;
    error: Error | null;
  };
}

/** A button whose action is recorded with a reason. */
export function ReasonButton(props: ReasonButtonProps) {
  const { label, title, children, submitLabel, disabledReason, act, variant, size } = props;
  const [asking, setAsking] = useState(false);
  const [reason, setReason] = useState('');
  const close = () => {
    setAsking(false);
    setReason('');
  };
  return (
    <>
      <Button
        variant={variant ?? 'secondary'}
        size={size ?? 'sm'}
        disabledReason={disabledReason}
        onClick={() => setAsking(true)}
      >
        {label}
      </Button>
      <FormDialog
        open={asking}
        onClose={close}
        title={title}
        submitLabel={submitLabel}
        refusal={reason.trim() ? null : 'Enter a reason.'}
        busy={act.isPending}
        error={act.error}
        onSubmit={() => act.mutate(reason.trim(), { onSuccess: close })}
      >
        <p className="text-sm text-ink-muted">{children}</p>
        <Field label="Reason" rows={2} value={reason} onChange={setReason} maxLength={500} />
      </FormDialog>
    </>
  );
}
