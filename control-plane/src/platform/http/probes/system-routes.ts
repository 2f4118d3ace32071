import type { operations } from '@gpuaas/contracts/generated/openapi.ts';
import type { Metrics } from '../../telemetry/metrics.ts';
import { metricsAccess } from './metrics-access.ts';
import type { Handlers } from '../operation.ts';
import type { Readiness } from './readiness.ts';
import { DOCS_CONTENT_SECURITY_POLICY } from '../reference/page.ts';
import { problemsPage } from '../reference/problems-page.ts';
import { referencePage } from '../reference/reference-page.ts';

type SystemOperations = Pick<
  operations,
  'getHealth' | 'getReadiness' | 'getContract' | 'getMetrics' | 'getReference' | 'getProblemReference'
>;

interface System {
  readiness: Readiness;
  document: object;
  metrics: Metrics;
}

const HTML = 'text/html; charset=utf-8';

export function systemRoutes({ readiness, document, metrics }: System): Handlers<SystemOperations, unknown> {
  const mayScrape = metricsAccess(process.env['GPUAAS_METRICS_TOKEN']);
  const reference = referencePage(document);
  const problems = problemsPage();
  return {
    async getHealth() {
      return { status: 200, body: { status: 'ok' } };
    },
    async getReadiness() {
      const body = await readiness.report();
      return { status: body.ready ? 200 : 503, body };
    },
    async getContract() {
      return { status: 200, body: document as Record<string, unknown> };
    },
    async getMetrics({ request }) {
      mayScrape(request);
      return {
        status: 200,
        body: await metrics.render(),
        mediaType: 'text/plain; version=0.0.4; charset=utf-8',
      };
    },
    async getReference({ reply }) {
      reply.header('content-security-policy', DOCS_CONTENT_SECURITY_POLICY);
      return { status: 200, body: reference, mediaType: HTML };
    },
    async getProblemReference({ reply }) {
      reply.header('content-security-policy', DOCS_CONTENT_SECURITY_POLICY);
      return { status: 200, body: problems, mediaType: HTML };
    },
  };
}
