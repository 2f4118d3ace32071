import type { ReactNode } from 'react';
import type { Allocation } from '../api/types.ts';
import { Fact, Facts, LongName } from '../ui/facts.tsx';
import { Panel } from '../ui/panel.tsx';
import { Timestamp } from '../ui/timestamp.tsx';
import { TagsEditor } from './tags-editor.tsx';

export function AllocationFacts({ allocation }: { allocation: Allocation }) {
  return (
    <Panel title="Details">
      <Facts>
        <Fact name="Id" copy={allocation.id}>
          <LongName>{allocation.id}</LongName>
        </Fact>
        <Fact name="Resource name" copy={allocation.resource_name}>
          <LongName>{allocation.resource_name}</LongName>
        </Fact>
        <Fact name="Image">{allocation.image}</Fact>
        <Fact name="Tags">
          <TagsEditor allocation={allocation} />
        </Fact>
        <Fact name="Requested">
          <Timestamp at={allocation.created_at} />
        </Fact>
        <When name="Ends" at={allocation.ends_at} />
        <When name="Active" at={allocation.active_at} />
        <When name="Root given" at={allocation.root_granted_at} />
        <When name="Release asked" at={allocation.release_requested_at} />
        <When name="Released" at={allocation.released_at} />
      </Facts>
    </Panel>
  );
}

function When({ name, at }: { name: string; at: string | null }): ReactNode {
  return (
    at && (
      <Fact name={name}>
        <Timestamp at={at} />
      </Fact>
    )
  );
}
