import type { StateFilter } from './api/allocations/allocations.ts';
import type { StatusFilter } from './api/apps/instances.ts';
import type { CostGroup } from './api/billing/reports.ts';
import type { NodeTaskState } from './api/types.ts';
import { COST_GROUPS } from './format/cost-groups.ts';
import { SPANS, type SpanName } from './format/spans.ts';

/** URL parameters of each page. Unknown parameters are dropped. */
type Raw = Record<string, unknown>;

export function landingSearch(raw: Raw): { return_to?: string } {
  // Only a path of this site: the API refuses others as well.
  return typeof raw['return_to'] === 'string' && /^\/(?![/\\])/.test(raw['return_to'])
    ? { return_to: raw['return_to'] }
    : {};
}

export function invitationSearch(raw: Raw): { token: string } {
  return { token: typeof raw['token'] === 'string' ? raw['token'] : '' };
}

export function projectSearch(raw: Raw): { project?: string } {
  return typeof raw['project'] === 'string' ? { project: raw['project'] } : {};
}

export function allocationSearch(raw: Raw): { tab?: 'terminal' } {
  return raw['tab'] === 'terminal' ? { tab: 'terminal' } : {};
}

export interface AllocationsSearch {
  find?: string;
  state?: StateFilter;
  tag?: string;
  sort?: string;
}

const STATE_FILTERS: StateFilter[] = [
  'live',
  'ended',
  'queued',
  'reserved',
  'provisioning',
  'active',
  'releasing',
  'released',
  'failed',
  'release_failed',
];

export function allocationsSearch(raw: Raw): AllocationsSearch {
  const state = STATE_FILTERS.find((known) => known === raw['state']);
  return { ...texts(raw, ['find', 'tag', 'sort']), ...(state ? { state } : {}) };
}

const STATUS_FILTERS: StatusFilter[] = [
  'live',
  'ended',
  'created',
  'starting',
  'running',
  'stopping',
  'stopped',
  'failed',
  'succeeded',
];

export function workloadsSearch(raw: Raw): { status?: StatusFilter } {
  const status = STATUS_FILTERS.find((known) => known === raw['status']);
  return status ? { status } : {};
}

/** `on` is the allocation that an app is chosen for. */
export function appsSearch(raw: Raw): { on?: string } {
  return texts(raw, ['on']);
}

/** `on` is the allocation to run on, `retry_of` the ended instance that this is the next attempt of. */
export function appLaunchSearch(raw: Raw): { on?: string; retry_of?: string } {
  return texts(raw, ['on', 'retry_of']);
}

export interface OperatorAllocationsSearch {
  state?: StateFilter;
  tenant?: string;
  node?: string;
}

export function operatorAllocationsSearch(raw: Raw): OperatorAllocationsSearch {
  const state = STATE_FILTERS.find((known) => known === raw['state']);
  return { ...texts(raw, ['tenant', 'node']), ...(state ? { state } : {}) };
}

export interface LaunchSearch {
  sku?: string;
  gpus?: number;
  region?: string;
  image?: string;
  /** How long it lasts at most. */
  seconds?: number;
}

/** Change of a form field; `undefined` clears a choice. */
export type LaunchChange = { [Name in keyof LaunchSearch]?: LaunchSearch[Name] | undefined };

export function launchSearch(raw: Raw): LaunchSearch {
  const { sku, gpus, region, image, seconds } = raw;
  return {
    ...(typeof sku === 'string' ? { sku } : {}),
    ...(typeof gpus === 'number' && Number.isInteger(gpus) ? { gpus } : {}),
    ...(typeof region === 'string' ? { region } : {}),
    ...(typeof image === 'string' ? { image } : {}),
    ...(typeof seconds === 'number' && Number.isInteger(seconds) && seconds >= 60 ? { seconds } : {}),
  };
}

export type PlacementSearch = Omit<LaunchSearch, 'image'>;

export function placementSearch(raw: Raw): PlacementSearch {
  const { image: _image, ...search } = launchSearch(raw);
  return search;
}

/** Period of the reports; a month when left out. */
export function moneySearch(raw: Raw): { time?: SpanName } {
  const time = SPANS.find(({ value }) => value === raw['time'])?.value;
  return time ? { time } : {};
}

export interface BillingSearch {
  time?: SpanName;
  /** Dimension of costs; projects when left out. */
  by?: CostGroup;
}

export function billingSearch(raw: Raw): BillingSearch {
  const by = COST_GROUPS.find(({ value }) => value === raw['by'])?.value;
  return { ...moneySearch(raw), ...(by ? { by } : {}) };
}

/** Tenant whose prices are shown; the list prices without one. */
export function pricesSearch(raw: Raw): { tenant?: string } {
  return texts(raw, ['tenant']);
}

export function nodeSearch(raw: Raw): { slot?: number } {
  return typeof raw['slot'] === 'number' && Number.isInteger(raw['slot']) ? { slot: raw['slot'] } : {};
}

export interface AuditSearch {
  action?: string;
  target_id?: string;
  actor_id?: string;
  correlation_id?: string;
  result?: 'succeeded' | 'refused' | 'denied' | 'failed';
}

const RESULTS = ['succeeded', 'refused', 'denied', 'failed'] as const;

export function auditSearch(raw: Raw): AuditSearch {
  const result = RESULTS.find((known) => known === raw['result']);
  return {
    ...texts(raw, ['action', 'target_id', 'actor_id', 'correlation_id']),
    ...(result ? { result } : {}),
  };
}

export function teamSearch(raw: Raw): { team?: string } {
  return texts(raw, ['team']);
}

export function webhookSearch(raw: Raw): { webhook?: string } {
  return texts(raw, ['webhook']);
}

export function incidentsSearch(raw: Raw): { state?: 'resolved' } {
  return raw['state'] === 'resolved' ? { state: 'resolved' } : {};
}

export interface TasksSearch {
  state?: NodeTaskState;
  kind?: string;
  node_id?: string;
  allocation_id?: string;
}

const TASK_STATES: NodeTaskState[] = ['queued', 'claimed', 'succeeded', 'failed', 'expired'];

export function tasksSearch(raw: Raw): TasksSearch {
  const state = TASK_STATES.find((known) => known === raw['state']);
  return { ...texts(raw, ['kind', 'node_id', 'allocation_id']), ...(state ? { state } : {}) };
}

/** `tenant` is the organization whose values are shown. */
export function policiesSearch(raw: Raw): { find?: string; tenant?: string } {
  return texts(raw, ['find', 'tenant']);
}

export function policySearch(raw: Raw): { tenant?: string } {
  return texts(raw, ['tenant']);
}

export interface FleetMapSearch {
  find?: string;
  region?: string;
  posture?: string;
  /** Zoom level; medium when left out. */
  zoom?: 'far' | 'near';
}

export function fleetMapSearch(raw: Raw): FleetMapSearch {
  const zoom = (['far', 'near'] as const).find((known) => known === raw['zoom']);
  return { ...texts(raw, ['find', 'region', 'posture']), ...(zoom ? { zoom } : {}) };
}

function texts<Name extends string>(raw: Raw, names: Name[]): Partial<Record<Name, string>> {
  const kept: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const value = raw[name];
    if (typeof value === 'string' && value !== '') kept[name] = value;
  }
  return kept;
}
