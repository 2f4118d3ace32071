import type { MaasUser } from './check-oauth.ts';
import { describeMachine, describeResults } from './describe.ts';
import type { FakeMachine } from './fake-machine.ts';
import { MaasRefusal } from './refusal.ts';
import { STATUS } from './statuses.ts';

export interface MaasRequest {
  method: string;
  /** Below `/MAAS/api/2.0/`. */
  path: string;
  query: URLSearchParams;
  form: URLSearchParams;
  user: MaasUser;
}

export interface Inventory {
  machines: Map<string, FakeMachine>;
  tags: Set<string>;
  /** Names and tags of scripts that can be requested. */
  scripts: Set<string>;
}

/** MAAS's handling of an authenticated request. */
export function handleOperation(inventory: Inventory, asked: MaasRequest): unknown {
  const { method, path, query } = asked;
  const call = `${method} ${query.get('op') ?? ''}`.trim();
  const [, machine] = /^machines\/([^/]+)\/$/.exec(path) ?? [];
  if (machine) return ofMachine(inventory, asked, machineOf(inventory, machine));
  const [, tag] = /^tags\/([^/]+)\/$/.exec(path) ?? [];
  if (tag) return ofTag(inventory, asked, tag);
  const [, node] = /^nodes\/([^/]+)\/results\/$/.exec(path) ?? [];
  if (node && call === 'GET') return describeResults(machineOf(inventory, node), query.get('type'));
  switch (`${path} ${call}`) {
    case 'machines/ GET':
      return [...inventory.machines.values()].map(describeMachine);
    case 'machines/ POST allocate':
      return allocate(inventory, asked);
    case 'users/ GET whoami':
      return { username: asked.user.username, is_superuser: asked.user.isAdmin, is_local: true };
    case 'tags/ POST':
      return makeTag(inventory, asked);
    default:
      throw unrecognised(asked);
  }
}

function ofMachine(inventory: Inventory, asked: MaasRequest, machine: FakeMachine): unknown {
  const { method, form, query, user } = asked;
  switch (`${method} ${query.get('op') ?? ''}`.trim()) {
    case 'GET':
      break;
    case 'GET query_power_state':
      return { state: machine.powerState };
    case 'POST commission':
      requireAdmin(user);
      scriptsOf(inventory, form, 'testing_scripts');
      machine.commission(scriptsOf(inventory, form, 'commissioning_scripts'), form.get('profile'));
      break;
    case 'POST test':
      requireAdmin(user);
      machine.test(scriptsOf(inventory, form, 'testing_scripts'));
      break;
    case 'POST deploy':
      requireHold(user, machine);
      machine.deploy(user.username, userDataOf(form), form.get('distro_series') ?? 'noble');
      break;
    case 'POST release':
      requireHold(user, machine);
      machine.release(erasureOf(form));
      break;
    case 'POST abort':
      requireHold(user, machine);
      machine.abort();
      break;
    case 'POST power_on':
      requireHold(user, machine);
      if (machine.status === STATUS.ALLOCATED) machine.deploy(user.username, userDataOf(form), 'noble');
      else machine.powerState = 'on';
      break;
    case 'POST power_off':
      requireHold(user, machine);
      if (!['hard', 'soft', null].includes(form.get('stop_mode'))) {
        throw new MaasRefusal(400, { stop_mode: [`Value must be one of: 'hard', 'soft'`] });
      }
      machine.powerState = 'off';
      break;
    default:
      throw unrecognised(asked);
  }
  return describeMachine(machine);
}

function allocate({ machines }: Inventory, { form, user }: MaasRequest): unknown {
  const systemId = form.get('system_id');
  const found = systemId === null ? null : machines.get(systemId);
  if (!found) throw new MaasRefusal(409, `No available machine matches constraints: system_id=${systemId}`);
  found.allocate(user.username);
  return describeMachine(found);
}

function ofTag({ machines, tags }: Inventory, asked: MaasRequest, name: string): unknown {
  const { method, query, form, user } = asked;
  if (method !== 'POST' || query.get('op') !== 'update_nodes') throw unrecognised(asked);
  if (!user.isAdmin) throw new MaasRefusal(403, 'Must be a superuser or supply a rack_controller.');
  if (!tags.has(name)) throw new MaasRefusal(404, 'No Tag matches the given query.');
  const named = (field: string): FakeMachine[] =>
    form.getAll(field).flatMap((systemId) => machines.get(systemId) ?? []);
  const [added, removed] = [named('add'), named('remove')];
  for (const machine of added) machine.tags.add(name);
  for (const machine of removed) machine.tags.delete(name);
  return { added: added.length, removed: removed.length };
}

function makeTag({ tags }: Inventory, { form, user }: MaasRequest): unknown {
  requireAdmin(user);
  const name = form.get('name') ?? '';
  if (!/^[a-zA-Z0-9_-]+$/.test(name)) throw new MaasRefusal(400, { name: ['Enter a valid value.'] });
  if (tags.has(name)) throw new MaasRefusal(400, { name: ['Tag with this Name already exists.'] });
  tags.add(name);
  return { name, definition: '', comment: form.get('comment') ?? '', kernel_opts: '' };
}

function machineOf({ machines }: Inventory, systemId: string): FakeMachine {
  const found = machines.get(decodeURIComponent(systemId));
  if (!found) throw new MaasRefusal(404, 'No Machine matches the given query.');
  return found;
}

function scriptsOf({ scripts }: Inventory, form: URLSearchParams, field: string): string[] {
  const given = (form.get(field) ?? '').split(',').filter((name) => name !== '');
  const unknown = given.find((name) => name !== 'none' && !scripts.has(name));
  if (unknown === undefined) return given.filter((name) => name !== 'none');
  throw new MaasRefusal(400, {
    [field]: [`Select a valid choice. ${unknown} is not one of the available choices.`],
  });
}

function userDataOf(form: URLSearchParams): string | null {
  const given = form.get('user_data');
  if (given === null) return null;
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(given)) {
    throw new MaasRefusal(400, 'user_data: Incorrect padding');
  }
  return Buffer.from(given, 'base64').toString('utf8');
}

function erasureOf(form: URLSearchParams): { secure: boolean; quick: boolean } | null {
  const isTrue = (field: string): boolean => /^(?:true|1)$/i.test(form.get(field) ?? '');
  return isTrue('erase') ? { secure: isTrue('secure_erase'), quick: isTrue('quick_erase') } : null;
}

function requireAdmin(user: MaasUser): void {
  if (!user.isAdmin) throw new MaasRefusal(403, 'Forbidden');
}

/** An administrator may use any machine; others only their own or unallocated ones. */
function requireHold(user: MaasUser, machine: FakeMachine): void {
  if (!user.isAdmin && machine.owner !== null && machine.owner !== user.username) {
    throw new MaasRefusal(403, 'Forbidden');
  }
}

function unrecognised({ method, query }: MaasRequest): MaasRefusal {
  return new MaasRefusal(400, `Unrecognised signature: method=${method} op=${query.get('op')}`);
}
