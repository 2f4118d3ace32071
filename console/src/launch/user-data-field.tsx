import { Field } from '../ui/forms/field.tsx';

const MAX_BYTES = 16_384;

/** Error of the user-data; the API checks which keys it may set. */
export function userDataError(text: string): string | null {
  if (text === '') return null;
  if (new TextEncoder().encode(text).length > MAX_BYTES) return 'User data is limited to 16 KiB.';
  return /^(#!|#cloud-config\s*(\n|$))/.test(text) ? null : 'User data must start with #! or #cloud-config.';
}

interface UserDataFieldProps {
  value: string;
  onChange: (text: string) => void;
}

export function UserDataField({ value, onChange }: UserDataFieldProps) {
  return (
    <Field
      label="User-data"
      optional
      rows={4}
      value={value}
      onChange={onChange}
      refusal={userDataError(value)}
      placeholder={'#cloud-config\npackages: [tmux]'}
      hint="Script or cloud-config to run on first boot. Write-only"
    />
  );
}
