import { useId } from 'react';

const NAME = /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/;

/** Error of a name; an empty one is valid: the API generates one. */
export function nameError(name: string): string | null {
  if (name === '' || (NAME.test(name) && name.length <= 63)) return null;
  return 'Use up to 63 lower-case letters, digits and hyphens; do not start or end with a hyphen.';
}

interface NameFieldProps {
  value: string;
  onChange: (name: string) => void;
}

export function NameField({ value, onChange }: NameFieldProps) {
  const id = useId();
  const refusal = nameError(value);
  return (
    <div className="flex flex-col gap-1.5">
      <label htmlFor={id} className="text-sm font-medium">
        Name <span className="font-normal text-ink-faint">(optional)</span>
      </label>
      <input
        id={id}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        placeholder="llama-finetune"
        autoComplete="off"
        spellCheck={false}
        maxLength={63}
        aria-invalid={refusal !== null}
        aria-describedby={`${id}-hint`}
        className="h-9 w-full max-w-md rounded-md border border-line-strong bg-surface px-3 text-sm placeholder:text-ink-faint aria-invalid:border-(--danger)"
      />
      <p id={`${id}-hint`} className={`text-xs ${refusal ? 'tone-danger text-tone-text' : 'text-ink-faint'}`}>
        {refusal ?? 'Leave empty to generate a name'}
      </p>
    </div>
  );
}
