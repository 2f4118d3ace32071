/**
 * Times, limits and counts that stay in code: internals of the machinery, not business decisions. A tenant,
 * an operator or an auditor has no reason to change them, and most are safe only together with the code
 * beside them.
 */
export const technicalConstants: Record<string, string> = {
  'domains/fleet/identity/limit-renewals.ts RETRY_SECONDS': 'wait of a host that renews too often',
  'domains/access/terminal/terminal-gateway.ts AUTH_TIMEOUT_MS': 'a socket that says nothing is closed',
  'domains/access/http/refuse.ts LOOK_AGAIN_SECONDS': 'how often a page of a starting app reloads',
  'domains/access/http/app-cookies.ts ATTEMPT_SECONDS': 'how long a person may take to sign in',
  'domains/access/http/own-paths.ts COOKIE_SECONDS':
    'the sign-in at the console, which has its policies, ends it earlier',
  'domains/access/http/app-tickets.ts TICKET_SECONDS': 'how long a browser may take to follow a redirect',
  'domains/access/http/cors.ts PREFLIGHT_SECONDS': 'how long a browser keeps the answer to a preflight',
  'domains/billing/app-usage/reconcile-requests.ts SETTLED': 'a count is recorded within seconds',
  'domains/access/tunnel/log-in.ts READY_TIMEOUT_MS': 'how long a guest may take to answer a handshake',
  'domains/apps/runtime/observe-machine.ts WRITES_SECONDS':
    'how soon the log of a program that writes is read again; the interval without writing is a policy',
  'domains/apps/executors/allocation/runner/call-runner.ts DEADLINE_MS':
    'how long a guest may take to answer what needs no time',
  'domains/access/tunnel/open-tunnel-stream.ts OPEN_TIMEOUT_MS': 'how long an agent may take to answer',
  'domains/access/tunnel/dial-replica.ts ANSWER_TIMEOUT_MS':
    'must stay above what the other gateway gives an agent',
  'domains/access/read-console-log.ts READ_TIMEOUT_MS': 'how long a host may take to tell its console log',
  'domains/access/tokens/redis-tokens.ts ANSWER_TIMEOUT_MS': 'how long Redis may take to answer',
  'domains/access/tunnel/tunnel-registry.ts LEASE_SECONDS': 'must stay above several renewals',
  'domains/apps/artifacts/registry/credentials.ts TOKEN_SECONDS':
    'when clients ask for a token again; rights are read at each request',
  'domains/apps/artifacts/registry/repository-blobs.ts TOUCH_AFTER_SECONDS':
    'must stay below the shortest grace period of blobs',
  'platform/http/wire/limit-body-time.ts LISTENER_TIMEOUTS':
    'must stay above the time that the blob store gives a body',
  'domains/incidents/report-failures.ts FAILING_ATTEMPTS': 'when a periodic job counts as failing',
  'domains/allocations/launch/launch-batcher.ts LOCK_TIMEOUT_MS':
    'how long a transaction of many waits for one of them before each goes alone',
  'domains/allocations/observe/observe-machines.ts HEARTBEAT_SETTLE_INTERVAL':
    'bound to the interval of heartbeats',
  'domains/incidents/watch-background-work.ts QUIET_SECONDS':
    'when a lost worker whose host stays away is no longer reported',
  'domains/webhooks/require-request-rate.ts MINUTE_SECONDS': 'the unit of webhooks.requests_per_minute',
  'domains/webhooks/post-message.ts DEADLINE_MS': 'must stay below the lease of a delivery',
  'domains/webhooks/claim-deliveries.ts LEASE_SECONDS': 'must stay above the deadline of an attempt',
  'domains/webhooks/retry-schedule.ts RETRY_SECONDS':
    'the schedule of Standard Webhooks; how much of it is used is webhooks.max_attempts',
  'domains/notifications/claim-emails.ts LEASE_SECONDS':
    'must stay above the longest conversation with a mail server',
  'domains/notifications/record-email-attempt.ts RETRY_SECONDS':
    'back-off towards a mail server; for how long is notifications.email_deadline_seconds',
  'domains/notifications/record-email-attempt.ts FAILING_ATTEMPTS': 'when a mail server counts as failing',
  'platform/db/listener.ts CONNECT_TIMEOUT_MS': 'how long the database may take to answer a listener',
  'platform/http/send-problem.ts RETRY_AFTER_SECONDS': 'about what a restart of PostgreSQL takes',
  'platform/http/wire/security-headers.ts YEAR_SECONDS': 'how long browsers remember to use TLS, as usual',
  'platform/auth/provider.ts TIMEOUT_SECONDS': 'how long an identity provider may take to answer',
  'domains/sign-in/tenant-providers.ts MAX_KEPT': 'how many connections of tenants’ providers stay in memory',
  'platform/outbound/checked-fetch.ts DEADLINE_MS':
    'how long a server that a tenant chose may take to answer',
  'platform/blobs/blobs.ts RECEIVE_TIMEOUT_MS':
    'with the time of an upload it must stay below the shortest blobs.unreferenced_grace_seconds',
  'platform/blobs/blobs.ts WRITE_ATTEMPTS': 'how often content may be removed under its writer',
  'platform/blobs/s3-backend.ts ANSWER_TIMEOUT_MS': 'how long S3 may take to answer a request',
  'platform/blobs/s3-backend.ts UPLOAD_TIMEOUT_MS':
    'must stay below the shortest blobs.unreferenced_grace_seconds',
  'platform/blobs/s3-backend.ts ATTEMPTS': 'how often a request that S3 cannot serve now is sent',
  'platform/maas/send.ts ANSWER_TIMEOUT_MS': 'how long MAAS may take to answer a request',
  'domains/sign-in/verify-domain.ts TIMEOUT_MS': 'how long a DNS server may take to answer',
  'domains/audit/watch-chain.ts EVERY_SECONDS': 'how often a part of the audit log is verified',
  'platform/keys/certificates.ts SERVER_LIFETIME_MS':
    'the node API’s own certificate, created at every start',
  'platform/keys/step-ca.ts DEADLINE_MS': 'how long the certificate authority may take to answer',
  'platform/keys/step-ca.ts TOKEN_SECONDS':
    'life of the one-time token between us and the certificate authority',
  'domains/billing/metering/reconcile-meters.ts SETTLED':
    'how long a heartbeat may lag behind what happens on its host',
  'domains/payments/stripe/stripe-provider.ts TIMEOUT_MS': 'how long the payment provider may take to answer',
  'platform/ticks/run-due-periods.ts MAX_RETRY_SECONDS': 'back-off of periodic work',
  'domains/allocations/reconcile/find-orphans.ts SETTLED_MS':
    'a heartbeat that was on its way when a release was recorded is no evidence',
  'domains/allocations/reconcile/recover-abandoned-allocations.ts SETTLED_MS':
    'a workflow that has just begun is not missing',
  'domains/fleet/conversion/end-abandoned.ts SETTLED': 'a workflow that starts is not lost yet',
  'domains/fleet/onboarding/end-abandoned.ts SETTLED': 'a workflow that starts is not lost yet',
  'platform/ticks/prune-runs.ts KEPT_DAYS': 'book-keeping of periodic work, read by nobody outside',
  'platform/telemetry/platform-metrics.ts STATEMENT_TIMEOUT_MS': 'a scrape must not hold up the database',
  'platform/policy/client.ts READ_TIMEOUT_MS': 'the policy client cannot read its own policy',
  'platform/http/idempotency.ts WAIT_SECONDS':
    'how long an equal request waits before it is refused with a retry',
  'platform/http/probes/event-tail-readiness.ts MAX_LAG_SECONDS': 'readiness of a process',
  'platform/workflows/prune-executors.ts KEPT_DAYS': 'book-keeping of workers, read by nobody outside',
  'platform/events/parked-events.ts KEPT': 'how long a settled record helps; open ones stay',
  'platform/events/handle-once.ts KEPT': 'must stay above the longest redelivery of the bus',
  'platform/events/nats-stream.ts KEPT_SECONDS':
    'a buffer of the bus; the events themselves are kept by policy',
  'platform/events/nats-stream.ts DUPLICATE_SECONDS': 'window in which the bus tells repetitions',
  'platform/events/consumer-lease.ts LEASE_SECONDS': 'election of a reader',
  'platform/db/embedded/start-server.ts PORT_ATTEMPTS': 'start of the embedded database',
  'roles/readiness-parts.ts MAX_LAG_SECONDS': 'readiness of a process',
};

/** Files with a lifetime in an expression. */
export const technicalLifetimes: Record<string, string> = {
  'platform/keys/certificates.ts': 'the node API’s own certificate, created at every start',
};
