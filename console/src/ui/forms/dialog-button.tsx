import { useState, type ReactNode } from 'react';
import { Button } from '../actions/button.tsx';

interface DialogButtonProps {
  label: string;
  variant?: 'primary' | 'secondary';
  disabledReason: string | null;
  /** The dialog; it is mounted at each opening, so that it starts empty. */
  children: (close: () => void) => ReactNode;
}

/** A button that opens a dialog. */
export function DialogButton({ label, variant = 'secondary', disabledReason, children }: DialogButtonProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button variant={variant} disabledReason={disabledReason} onClick={() => setOpen(true)}>
        {label}
      </Button>
      {open && children(() => setOpen(false))}
    </>
  );
}
