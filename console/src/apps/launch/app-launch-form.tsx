import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { launchApp, type DryRun } from '../../api/apps/manifests.ts';
import { useProjectDisabledReason } from '../../api/me.ts';
import { shouldRetry } from '../../api/query-client.ts';
import { appKeys } from '../../api/query-keys.ts';
import type { AppInstance, AppManifest, Sku } from '../../api/types.ts';
import { Field } from '../../ui/forms/field.tsx';
import { Panel } from '../../ui/panel.tsx';
import { AppEstimate } from './app-estimate.tsx';
import { ParameterField } from './parameter-field.tsx';
import { firstValues, parameterError, sentValues } from './parameter-values.ts';
import { smallestFit } from './smallest-fit.ts';
import { TargetPicker } from './target-picker.tsx';
import { chooseTarget } from './target-refusal.ts';

interface AppLaunchFormProps {
  projectId: string;
  manifest: AppManifest;
  dryRun: DryRun;
  skus: Sku[];
  /** Allocation that the address asks for. */
  on: string | undefined;
  /** The ended instance that this is the next attempt of. */
  former: AppInstance | null;
}

export function AppLaunchForm({ projectId, manifest, dryRun, skus, on, former }: AppLaunchFormProps) {
  const { slug, version: app } = manifest;
  const navigate = useNavigate();
  const queryClient = useQueryClient();
  const permission = useProjectDisabledReason(projectId, 'app_instance.create');
  const [asked, setAsked] = useState(on);
  const [name, setName] = useState(former?.name ?? '');
  const [typed, setTyped] = useState(() => firstValues(app.parameters, former?.parameters ?? []));
  const target = chooseTarget(dryRun.targets, asked);
  const launch = useMutation({
    mutationFn: launchApp,
    // Safe, because every attempt sends the idempotency key of the click.
    retry: shouldRetry,
    onSuccess: (instance) => {
      queryClient.setQueryData(appKeys.one(instance.id), instance);
      void queryClient.invalidateQueries({ queryKey: appKeys.list(projectId) });
      void navigate({ to: '/workloads/$instanceId', params: { instanceId: instance.id } });
    },
    // What the dry run said has changed.
    onError: () => queryClient.invalidateQueries({ queryKey: appKeys.targets }),
  });
  const wrong = app.parameters.find((parameter) => parameterError(parameter, typed[parameter.name] ?? ''));
  const refusal =
    permission ??
    (target ? null : 'Choose an allocation that fits.') ??
    (wrong ? `Check ${wrong.title ?? wrong.name}.` : null);
  const submit = () => {
    if (refusal || launch.isPending || !target) return;
    const body = {
      project_id: projectId,
      app_slug: slug,
      allocation_id: target.allocation_id,
      parameters: sentValues(app.parameters, typed),
      ...(name ? { name } : {}),
      ...(former ? { retry_of: former.id } : {}),
    };
    launch.mutate({ body, idempotencyKey: crypto.randomUUID() });
  };
  return (
    <form
      className="grid items-start gap-4 lg:grid-cols-[1fr_20rem]"
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <div className="flex min-w-0 flex-col gap-4">
        <Panel title="Where it runs">
          <TargetPicker
            targets={dryRun.targets}
            chosen={target?.allocation_id ?? null}
            onChange={setAsked}
            fit={smallestFit(app.compatibility, skus)}
          />
        </Panel>
        <Panel title="Parameters">
          <div className="grid gap-4 sm:grid-cols-2">
            <Field
              label="Name"
              optional
              value={name}
              onChange={setName}
              placeholder={app.display_name}
              maxLength={100}
            />
            {app.parameters.map((parameter) => (
              <ParameterField
                key={parameter.name}
                parameter={parameter}
                value={typed[parameter.name] ?? ''}
                onChange={(value) => setTyped((old) => ({ ...old, [parameter.name]: value }))}
              />
            ))}
          </div>
        </Panel>
      </div>
      <AppEstimate
        name={app.display_name}
        target={target}
        requestPrice={dryRun.requestPrice}
        isServed={app.runtime_profile.ports.some(({ protocol }) => protocol === 'http')}
        refusal={refusal}
        busy={launch.isPending}
        error={launch.error}
      />
    </form>
  );
}
