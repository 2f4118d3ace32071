import { useId, type ReactNode } from 'react';

export const INPUT_CLASS =
  'w-full rounded-md border border-line-strong bg-surface px-3 text-sm placeholder:text-ink-faint aria-invalid:border-(--danger)';

interface FieldProps {
  label: string;
  value: string;
  onChange: (value: string) => void;
  hint?: ReactNode;
  /** Why the value cannot be used. */
  refusal?: string | null;
  optional?: boolean;
  placeholder?: string;
  type?: 'text' | 'password' | 'email' | 'url' | 'number' | 'datetime-local';
  maxLength?: number;
  /** More than one line. */
  rows?: number;
}

/** A named text field with its hint or the reason it is refused. */
export function Field(props: FieldProps) {
  const {
    label,
    value,
    onChange,
    hint,
    refusal,
    optional,
    placeholder,
    type = 'text',
    maxLength,
    rows,
  } = props;
  const id = useId();
  const below = refusal ?? hint;
  const shared = {
    id,
    value,
    placeholder,
    maxLength,
    autoComplete: 'off',
    spellCheck: false,
    'aria-invalid': Boolean(refusal),
    'aria-describedby': below ? `${id}-hint` : undefined,
  };
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="text-sm font-medium">
        {label} {optional && <span className="font-normal text-ink-faint">(optional)</span>}
      </label>
      {rows ? (
        <textarea
          {...shared}
          rows={rows}
          onChange={(event) => onChange(event.target.value)}
          className={`${INPUT_CLASS} py-2 font-mono text-xs ${type === 'password' ? '[-webkit-text-security:disc]' : ''}`}
        />
      ) : (
        <input
          {...shared}
          type={type}
          onChange={(event) => onChange(event.target.value)}
          className={`${INPUT_CLASS} h-9`}
        />
      )}
      {below && (
        <p
          id={`${id}-hint`}
          className={`text-xs ${refusal ? 'tone-danger text-tone-text' : 'text-ink-faint'}`}
        >
          {below}
        </p>
      )}
    </div>
  );
}
