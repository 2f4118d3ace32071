import contract from '@gpuaas/contracts/generated/openapi.json' with { type: 'json' };
import { expect, it } from 'vitest';

/** Schemas with an id that are no resources: parts of one, records of events, and personal settings. */
const withoutName: Record<string, string> = {
  AppInstanceEvent: 'a record of an instance',
  AppInstanceMember: 'a part of an instance',
  AppUsagePrice: 'a line of the price book of apps',
  AuditLog: 'a record; it names its target',
  BurnIn: 'a record of a host',
  Dispute: 'a part of a payment',
  Holder: 'points to a user, team or service account',
  HostCleanup: 'a record of an allocation',
  IdentityProviderDomain: 'a part of an identity provider',
  Incident: 'a record; it names its target',
  LedgerTransaction: 'a record of the ledger',
  NodeAuthority: 'a key of the platform, known by its fingerprint',
  NodeConversion: 'a record of a host',
  NodeOnboarding: 'a record of how a host came about',
  NodeTask: 'a record of a host',
  NodeTaskSubject: 'points to what a task is about',
  Notification: 'a person’s own',
  ParkedEvent: 'a record; it names its subject',
  Person: 'an account of a person, whom no tenant owns',
  PolicyChange: 'a record of a policy',
  PrereqCheck: 'a part of a readiness report; its id is a word',
  Price: 'a line of the price book',
  ProjectIncident: 'a record, as tenants see it',
  QuotaHolder: 'points to who the quota is for',
  Refund: 'a part of a payment',
  ServiceAccountToken: 'a part of a service account',
  SignIn: 'a person’s own',
  Statement: 'a document whose bytes never change; its summary carries the name',
  TerminalRecording: 'a record of an allocation',
  UsageRecord: 'a record of an allocation',
  WebhookDelivery: 'a record of a webhook',
  WipeCertificate: 'a record; the signed document names the allocation',
};

interface Schema {
  required?: string[];
}

const nameless = Object.entries(contract.components.schemas as Record<string, Schema>)
  .filter(([, { required = [] }]) => required.includes('id') && !required.includes('resource_name'))
  .map(([name]) => name);

it('every resource carries its canonical name', () => {
  expect(nameless.filter((name) => !(name in withoutName))).toEqual([]);
});

it('nothing is said to do without that carries one', () => {
  expect(Object.keys(withoutName).filter((name) => !nameless.includes(name))).toEqual([]);
});
