import type { ReactNode } from 'react';
import type { Allocation } from '../api/types.ts';
import { Fact, Facts, TruncatedName } from '../ui/values/facts.tsx';
import { Panel } from '../ui/panel.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import { TagsEditor } from './tags/tags-editor.tsx';

export function AllocationFacts({ allocation }: { allocation: Allocation }) {
  return (
    <Panel title="Details">
      <Facts>
        <Fact name="Id" copy={allocation.id}>
          <TruncatedName>{allocation.id}</TruncatedName>
        </Fact>
        <Fact name="Resource name" copy={allocation.resource_name}>
          <TruncatedName>{allocation.resource_name}</TruncatedName>
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
        <When name="Root access granted" at={allocation.root_granted_at} />
        <When name="Release requested" at={allocation.release_requested_at} />
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
