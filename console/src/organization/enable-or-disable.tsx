import type { ReactNode } from 'react';
import { Button } from '../ui/actions/button.tsx';
import { ConfirmButton, type ConfirmButtonProps } from '../ui/actions/confirm-button.tsx';

interface EnableOrDisableProps {
  name: string;
  isActive: boolean;
  refusal: string | null;
  disable: ConfirmButtonProps['act'];
  enable: { isPending: boolean; mutate: () => void };
  /** What disabling does. */
  children: ReactNode;
}

/** Disables a person or an account after a question, and enables it again without one. */
export function EnableOrDisable(props: EnableOrDisableProps) {
  const { name, isActive, refusal, disable, enable, children } = props;
  if (!isActive) {
    return (
      <Button size="sm" disabledReason={refusal} busy={enable.isPending} onClick={() => enable.mutate()}>
        Enable
      </Button>
    );
  }
  return (
    <ConfirmButton
      label="Disable"
      variant="secondary"
      title={`Disable ${name}?`}
      confirmLabel="Disable"
      disabledReason={refusal}
      act={disable}
    >
      {children}
    </ConfirmButton>
  );
}
