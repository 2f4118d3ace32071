import { Field } from '../ui/field.tsx';

const MAX_BYTES = 16_384;

/** Why user-data cannot be used; which keys it may set is for the API to say. */
export function userDataRefusal(text: string): string | null {
  if (text === '') return null;
  if (new TextEncoder().encode(text).length > MAX_BYTES) return 'User-data has at most 16 KiB.';
  return /^(#!|#cloud-config\s*(\n|$))/.test(text)
    ? null
    : 'User-data begins with #!, as a script does, or with the line #cloud-config.';
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
      refusal={userDataRefusal(value)}
      placeholder={'#cloud-config\npackages: [tmux]'}
      hint="What the machine does when it first boots: a script or cloud-config. Nobody can read it afterwards."
    />
  );
}
