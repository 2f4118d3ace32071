import type { AppParameter } from '../../api/types.ts';
import { humanize } from '../../format/humanize.ts';
import { Field } from '../../ui/forms/field.tsx';
import { Select } from '../../ui/forms/select.tsx';
import { parameterError } from './parameter-values.ts';

interface ParameterFieldProps {
  parameter: AppParameter;
  value: string;
  onChange: (value: string) => void;
}

/** The field for one parameter of the manifest. */
export function ParameterField({ parameter, value, onChange }: ParameterFieldProps) {
  const { name, title, description, type, required, default: fallback } = parameter;
  const label = title ?? humanize(name);
  const choices = parameter.choices ?? (type === 'boolean' ? ['true', 'false'] : null);
  if (choices) {
    return (
      <div className="flex flex-col gap-1.5">
        <Select
          label={label}
          value={value === '' ? null : value}
          onChange={onChange}
          options={choices.map((choice) => ({ value: choice, label: choice }))}
        />
        {description && <p className="text-xs text-ink-faint">{description}</p>}
      </div>
    );
  }
  return (
    <Field
      label={label}
      value={value}
      onChange={onChange}
      hint={description}
      optional={!required && fallback === undefined}
      placeholder={fallback ?? ''}
      refusal={value === '' ? null : parameterError(parameter, value)}
    />
  );
}
