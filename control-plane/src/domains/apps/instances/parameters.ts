import type { components } from '@gpuaas/contracts/generated/openapi.ts';

type Parameter = components['schemas']['AppParameter'];
export type ParameterValue = components['schemas']['AppParameterValue'];

export interface ParameterFault {
  name: string;
  detail: string;
}

/** The values an instance runs with: those given, and defaults for the rest. */
export function resolveParameters(
  declared: readonly Parameter[],
  given: readonly ParameterValue[],
): { values: ParameterValue[]; faults: ParameterFault[] } {
  const faults: ParameterFault[] = [];
  const known = new Map(declared.map((parameter) => [parameter.name, parameter]));
  const values = new Map<string, string>();
  for (const { name, value } of given) {
    const parameter = known.get(name);
    if (!parameter) faults.push({ name, detail: 'is no parameter of the app' });
    else if (values.has(name)) faults.push({ name, detail: 'is given twice' });
    else {
      const fault = faultOf(parameter, value);
      if (fault) faults.push({ name, detail: fault });
      values.set(name, value);
    }
  }
  for (const { name, default: fallback, required = false } of declared) {
    if (values.has(name)) continue;
    if (fallback !== undefined) values.set(name, fallback);
    else if (required) faults.push({ name, detail: 'is required' });
  }
  return { values: [...values].map(([name, value]) => ({ name, value })), faults };
}

/** Contradictions in the declaration itself. */
export function faultsOfDeclaration(declared: readonly Parameter[]): ParameterFault[] {
  const names = declared.map(({ name }) => name);
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  const defaults = declared.flatMap((parameter) => {
    const { name, default: fallback } = parameter;
    const fault = fallback === undefined ? null : faultOf(parameter, fallback);
    return fault ? [{ name, detail: `its default ${fault}` }] : [];
  });
  return [...twice.map((name) => ({ name, detail: 'is declared twice' })), ...defaults];
}

/** Names of parameters in the environment of the program. */
export function parameterVariable(name: string): string {
  return `PARAM_${name.toUpperCase()}`;
}

function faultOf(parameter: Parameter, value: string): string | null {
  const { type, choices, max_length: maxLength, minimum, maximum } = parameter;
  if (choices && !choices.includes(value)) return `must be one of ${choices.join(', ')}`;
  if (maxLength !== undefined && value.length > maxLength) return `has more than ${maxLength} characters`;
  if (type === 'boolean') return ['true', 'false'].includes(value) ? null : 'must be true or false';
  if (type === 'string') return null;
  if (!NUMBER.test(value)) return `must be ${type === 'integer' ? 'a whole number' : 'a number'}`;
  const number = Number(value);
  if (type === 'integer' && !Number.isSafeInteger(number)) return 'must be a whole number';
  if (minimum !== undefined && number < minimum) return `must be at least ${minimum}`;
  if (maximum !== undefined && number > maximum) return `must be at most ${maximum}`;
  return null;
}

const NUMBER = /^-?\d{1,15}(\.\d{1,15})?(e-?\d{1,2})?$/i;
