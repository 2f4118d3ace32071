import { useInfiniteQuery } from '@tanstack/react-query';
import { Users } from 'lucide-react';
import { useState } from 'react';
import { usePlatformDisabledReason } from '../api/me.ts';
import { endSignInsOfPerson, peopleQuery } from '../api/operations/people.ts';
import { operatorKeys } from '../api/query-keys.ts';
import type { Person } from '../api/types.ts';
import { useRefreshingMutation } from '../api/use-refreshing-mutation.ts';
import { RowActions } from '../ui/actions/row-actions.tsx';
import { EmptyState } from '../ui/feedback/empty-state.tsx';
import { Field } from '../ui/forms/field.tsx';
import { Page } from '../ui/page.tsx';
import { Surface } from '../ui/surface.tsx';
import type { Column } from '../ui/tables/data-table.tsx';
import { ResourceList } from '../ui/tables/resource-list.tsx';
import { Timestamp } from '../ui/values/timestamp.tsx';
import { ReasonButton } from './reason-button.tsx';

const COLUMNS: Column<Person>[] = [
  { header: 'Person', cell: ({ name }) => <span className="font-medium">{name}</span> },
  { header: 'E-mail', cell: ({ email }) => email, from: 'sm' },
  { header: 'Signed-in devices', cell: ({ sign_ins: count }) => count, from: 'sm' },
  { header: 'Since', cell: ({ created_at: at }) => <Timestamp at={at} />, from: 'lg' },
  { header: 'Actions', cell: (person) => <EndSignIns person={person} />, align: 'right' },
];

/** For operators: who is signed in, and a way to end it. */
export function PeoplePage() {
  const [email, setEmail] = useState('');
  const query = useInfiniteQuery(peopleQuery(email.trim()));
  return (
    <Page title="People" subtitle="Everybody who has signed in, and the devices they are signed in on">
      <div className="max-w-sm">
        <Field label="E-mail begins with" value={email} onChange={setEmail} maxLength={320} />
      </div>
      <Surface>
        <ResourceList
          label="People"
          query={query}
          columns={COLUMNS}
          rowKey={({ id }) => id}
          empty={
            <EmptyState icon={Users} title="Nobody found">
              No address begins like that.
            </EmptyState>
          }
        />
      </Surface>
    </Page>
  );
}

function EndSignIns({ person }: { person: Person }) {
  const refusal = usePlatformDisabledReason('person.sign_out');
  const end = useRefreshingMutation({
    mutationFn: (reason: string) => endSignInsOfPerson(person.id, reason),
    refreshes: [operatorKeys.people()],
  });
  return (
    <RowActions>
      <ReasonButton
        label="End sign-ins"
        title={`End all sign-ins of ${person.name}?`}
        submitLabel="End sign-ins"
        disabledReason={refusal}
        act={end}
      >
        {person.email} is signed out in every browser and in the CLI, and their open terminals are closed. API
        keys keep working.
      </ReasonButton>
    </RowActions>
  );
}
