import { ScrollText } from 'lucide-react';
import type { ComponentProps } from 'react';
import type { AuditLog } from '../api/types.ts';
import type { AuditSearch } from '../search-params.ts';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { Surface } from '../ui/surface.tsx';
import { AuditFilter } from './audit-filter.tsx';
import { AUDIT_COLUMNS } from './audit-table.tsx';

interface AuditEntriesProps {
  query: ComponentProps<typeof ResourceList<AuditLog>>['query'];
  filter: AuditSearch;
  onFilter: (filter: AuditSearch) => void;
}

/** An audit log, of an organization or of the platform, with its filter. */
export function AuditEntries({ query, filter, onFilter }: AuditEntriesProps) {
  return (
    <>
      <AuditFilter filter={filter} onChange={onFilter} />
      <Surface>
        <ResourceList
          label="Audit log"
          query={query}
          columns={AUDIT_COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={ScrollText} title="No entries match">
              Change or clear the filter.
            </EmptyState>
          }
        />
      </Surface>
    </>
  );
}
