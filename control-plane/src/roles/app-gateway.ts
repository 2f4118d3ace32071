import { openAppGateway } from '../domains/access/http/open-app-gateway.ts';
import { appDirectory } from '../domains/apps/addresses/find-apps.ts';
import { serveApps } from '../domains/access/http/serve-apps.ts';
import { TunnelHub } from '../domains/access/tunnel/tunnel-hub.ts';
import { servicesAsRole } from '../platform/db/scope.ts';
import { checkListener } from '../platform/events/embedded-bus.ts';
import { EventTail } from '../platform/events/tail.ts';
import { clientAddresses } from '../platform/http/client-address.ts';
import { eventTailReadiness } from '../platform/http/probes/event-tail-readiness.ts';
import { createMetrics } from '../platform/telemetry/metrics.ts';
import { domainGauges } from './domain-gauges.ts';
import { isEntryPoint, runRole } from './entry-point.ts';
import { requireFreePort } from './free-port.ts';
import { busReadiness } from './readiness-parts.ts';
import { openRoleProcess, serveProbes } from './role-process.ts';

/** Apps in a process of their own: their bytes delay neither console nor API. It holds no tunnel and dials those that do. */
if (isEntryPoint(import.meta.filename)) {
  await runRole(async (onStop) => {
    const role = await openRoleProcess('app-gateway', onStop);
    const { config, services, readiness, log } = role;
    const { host, appsPort: port, appsSite: site } = config;
    await requireFreePort(host, port, 'GPUAAS_APPS_PORT');
    readiness.add(busReadiness({ kind: 'embedded', check: () => checkListener(services.listener) }));
    const readsLog = servicesAsRole(services, 'gpuaas_relay').db;
    const tail = new EventTail(readsLog, services.listener, log);
    await tail.start();
    onStop(() => tail.stop());
    readiness.add(eventTailReadiness(readsLog, tail));
    const metrics = createMetrics(servicesAsRole(services, 'gpuaas_tenant').database, log, domainGauges);
    await serveProbes(role, metrics, onStop);
    const hub = new TunnelHub(log, metrics.streams);
    onStop(() => hub.close());
    const gateway = openAppGateway(servicesAsRole(services, 'gpuaas_gateway'), {
      hub,
      tail,
      apps: appDirectory,
      metrics: metrics.streams,
      site,
      consoleUrl: config.publicUrl,
      addressOf: clientAddresses(config.trustedProxies),
    });
    const maxConnections = services.policies.get('http.max_connections');
    const listener = await serveApps(gateway.origins, { host, port, maxConnections });
    onStop(() => Promise.all([gateway.close(), listener.stop()]).then(() => undefined));
    log.info({ port: listener.port }, 'app gateway ready');
  });
}
