import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { Policy } from '../api/types.ts';
import { Button } from '../ui/button.tsx';
import { Fact, Facts } from '../ui/facts.tsx';
import { Field } from '../ui/field.tsx';
import { Notice } from '../ui/notice.tsx';
import { Panel } from '../ui/panel.tsx';
import { sayValue } from './policy-value.ts';
import { SOURCES } from './sources.ts';

const route = getRouteApi('/signed-in/operator/policies/$policyName');
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const GUARD_RAILS = {
  at_most: 'Lower scopes may only lower it.',
  at_least: 'Lower scopes may only raise it.',
};

/** How the value that holds came to be, for the platform or for one tenant. */
export function ResolutionPanel({ policy, tenant }: { policy: Policy; tenant: string | undefined }) {
  const navigate = route.useNavigate();
  const [typed, setTyped] = useState(tenant ?? '');
  const refusal = typed === '' || UUID.test(typed) ? null : 'That is not the id of an organization.';
  return (
    <Panel title={tenant ? 'What holds for the tenant' : 'What holds for the platform'}>
      <div className="flex flex-col gap-4">
        <Facts>
          <Fact name="Default">{sayValue(policy, policy.default)}</Fact>
          <Fact name={tenant ? 'Set for the tenant' : 'Set for the platform'}>
            {policy.set_value === null ? 'Not set' : sayValue(policy, policy.set_value)}
          </Fact>
          <Fact name="Holds">
            <strong>{sayValue(policy, policy.value)}</strong>{' '}
            <span className="text-ink-faint">from {SOURCES[policy.source].label.toLowerCase()}</span>
          </Fact>
          {policy.guard_rail && <Fact name="Guard rail">{GUARD_RAILS[policy.guard_rail]}</Fact>}
          {policy.minimum !== null && policy.maximum !== null && (
            <Fact name="Bounds">
              {policy.minimum.toLocaleString('en-US')} to {policy.maximum.toLocaleString('en-US')}
            </Fact>
          )}
          {policy.values && <Fact name="Values">{policy.values.join(', ')}</Fact>}
        </Facts>
        {policy.clamped && (
          <Notice tone="warn" title="The value set is held back">
            <p>A scope above allows less, so that value holds instead of the one set here.</p>
          </Notice>
        )}
        <form
          className="flex items-end gap-2"
          onSubmit={(event) => {
            event.preventDefault();
            if (!refusal) void navigate({ search: typed ? { tenant: typed } : {} });
          }}
        >
          <div className="flex-1">
            <Field label="Organization id" optional value={typed} onChange={setTyped} refusal={refusal} />
          </div>
          <Button type="submit" className="h-9!">
            Look
          </Button>
        </form>
      </div>
    </Panel>
  );
}
