import type { BacklogGauge } from '../../platform/telemetry/platform-metrics.ts';

export const emailGauges: readonly BacklogGauge[] = [
  {
    name: 'gpuaas_emails',
    help: 'E-mails that have not been sent.',
    label: 'state',
    query: `select state, count(*) from notification_emails where state = 'pending' group by state`,
  },
  {
    name: 'gpuaas_email_oldest_age_seconds',
    help: 'Age of the oldest e-mail that has not been sent.',
    label: 'state',
    query: `select state, extract(epoch from now() - min(created_at)) from notification_emails
      where state = 'pending' group by state`,
  },
];
