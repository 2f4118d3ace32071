import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import type { Policy } from '../api/types.ts';
import { Button } from '../ui/actions/button.tsx';
import { Fact, Facts } from '../ui/values/facts.tsx';
import { Field } from '../ui/forms/field.tsx';
import { Notice } from '../ui/feedback/notice.tsx';
import { Panel } from '../ui/panel.tsx';
import { formatPolicyValue } from './policy-value.ts';
import { VALUE_SOURCES } from './sources.ts';

const route = getRouteApi('/signed-in/operator/policies/$policyName');
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const GUARD_RAILS = {
  at_most: 'Lower scopes may only lower it.',
  at_least: 'Lower scopes may only raise it.',
};

/** How the effective value is resolved, for the platform or for one tenant. */
export function ResolutionPanel({ policy, tenant }: { policy: Policy; tenant: string | undefined }) {
  const navigate = route.useNavigate();
  const [typed, setTyped] = useState(tenant ?? '');
  const refusal = typed === '' || UUID.test(typed) ? null : 'Not a valid organization id.';
  return (
    <Panel title={tenant ? 'Tenant value' : 'Platform value'}>
      <div className="flex flex-col gap-4">
        <Facts>
          <Fact name="Default">{formatPolicyValue(policy, policy.default)}</Fact>
          <Fact name={tenant ? 'Set for the tenant' : 'Set for the platform'}>
            {policy.set_value === null ? 'Not set' : formatPolicyValue(policy, policy.set_value)}
          </Fact>
          <Fact name="Effective value">
            <strong>{formatPolicyValue(policy, policy.value)}</strong>{' '}
            <span className="text-ink-faint">from {VALUE_SOURCES[policy.source].label.toLowerCase()}</span>
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
          <Notice tone="warn" title="Limited by a higher scope">
            <p>A higher scope is stricter, so its value applies instead of the one set here.</p>
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
            Look up
          </Button>
        </form>
      </div>
    </Panel>
  );
}
