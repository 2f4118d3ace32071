import { candidate, OPEN_ENDED, type Candidate, type Lease } from '../candidate.ts';
import { buildSlotLayout } from '../layout.ts';
import { place } from '../place.ts';
import { PlacementIndex } from '../placement-index.ts';
import { toIndexes, MAX_SLOTS, toMask } from '../slot-mask.ts';
import { InvalidLine, readOperation, type Operation, type SimulatedNode } from './read-operation.ts';

type Answer =
  | { ok: true }
  | { node: string; slots: number[] }
  | { node: null; why: object }
  | { error: string };

const EVERY_COUNT = Array.from({ length: MAX_SLOTS }, (_, count) => count + 1);

/** A fleet in memory: answers JSON lines with the placement that production would choose. */
export class Simulator {
  #fleet: PlacementIndex | null = null;
  readonly #leases = new Map<string, { nodeId: string; lease: Lease }>();
  #now = 0;

  /** One line in, one line out; an invalid line changes nothing. */
  answer(line: string): string {
    return JSON.stringify(this.#answer(line));
  }

  #answer(line: string): Answer {
    try {
      return this.#apply(readOperation(line));
    } catch (error) {
      if (error instanceof InvalidLine) return { error: error.message };
      throw error;
    }
  }

  #apply(operation: Operation): Answer {
    switch (operation.op) {
      case 'init':
        return this.#init(operation.nodes);
      case 'place':
        return this.#place(operation);
      case 'release':
        return this.#release(operation);
    }
  }

  #init(nodes: SimulatedNode[]): Answer {
    this.#fleet = new PlacementIndex();
    this.#leases.clear();
    this.#now = 0;
    for (const node of nodes) this.#fleet.set(emptyNode(node));
    return { ok: true };
  }

  #place(asked: Extract<Operation, { op: 'place' }>): Answer {
    const fleet = this.#ready();
    if (this.#leases.has(asked.id)) throw new InvalidLine(`${asked.id} is placed already`);
    this.#now = asked.t ?? this.#now;
    const endsAt = asked.duration === null ? OPEN_ENDED : this.#now + asked.duration;
    const request = {
      shape: asked.kind,
      gpus: asked.gpus,
      region: null,
      gpuModel: asked.model,
      now: this.#now,
      endsAt,
    };
    const placement = place(request, fleet, EVERY_COUNT);
    if (!placement.fits) {
      return {
        node: null,
        why: {
          reasons: placement.rejections.map(({ filter, reason, nodes }) => ({ filter, reason, nodes })),
          nearest_gpus: placement.nearest?.gpus ?? null,
          expected_at: placement.expectedAt,
        },
      };
    }
    const { node, slots } = placement;
    const lease = { slots, endsAt };
    fleet.set(withLeases(node, [...node.leases, lease]));
    this.#leases.set(asked.id, { nodeId: node.nodeId, lease });
    return { node: node.nodeId, slots: toIndexes(slots) };
  }

  #release(asked: Extract<Operation, { op: 'release' }>): Answer {
    const fleet = this.#ready();
    const held = this.#leases.get(asked.id);
    if (!held) throw new InvalidLine(`${asked.id} is not placed`);
    this.#now = asked.t ?? this.#now;
    const node = fleet.get(held.nodeId)!;
    fleet.set(
      withLeases(
        node,
        node.leases.filter((lease) => lease !== held.lease),
      ),
    );
    this.#leases.delete(asked.id);
    return { ok: true };
  }

  #ready(): PlacementIndex {
    if (!this.#fleet) throw new InvalidLine('the first line must be an init');
    return this.#fleet;
  }
}

/** Simulated nodes may be leased whole or in slices, and have no faults. */
function emptyNode({ id, model, numa }: SimulatedNode): Candidate {
  const groups = numa.filter((group) => group.length > 0).map(toMask);
  const layout = buildSlotLayout(groups, groups);
  const facts = {
    nodeId: id,
    region: '',
    gpuModel: model,
    serves: ['baremetal', 'gpu_slice'] as const,
    connected: true,
    draining: false,
    cordoned: false,
  };
  const { all } = layout;
  return candidate(facts, layout, [], { available: all, configured: all, healthy: all });
}

function withLeases(node: Candidate, leases: readonly Lease[]): Candidate {
  const available = leases.reduce((rest, { slots }) => rest & ~slots, node.layout.all);
  return candidate(node, node.layout, leases, { ...node, available });
}
