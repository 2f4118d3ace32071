import { useInfiniteQuery } from '@tanstack/react-query';
import { tenantsQuery } from '../api/organization/tenants.ts';
import { Select } from '../ui/forms/select.tsx';

const NONE = 'none';

interface TenantSelectProps {
  value: string | undefined;
  /** Text when no tenant is chosen. */
  none: string;
  onChange: (organizationId: string | undefined) => void;
}

export function TenantSelect({ value, none, onChange }: TenantSelectProps) {
  const tenants = useInfiniteQuery(tenantsQuery).data ?? [];
  return (
    <div className="flex flex-col gap-1.5">
      <Select
        label="Tenant"
        value={value ?? NONE}
        onChange={(next) => onChange(next === NONE ? undefined : next)}
        options={[
          { value: NONE, label: none },
          ...tenants.map(({ id, name }) => ({ value: id, label: name })),
        ]}
      />
    </div>
  );
}
