import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Db, Tx } from '../db/database.ts';
import type { Listener } from '../db/listener.ts';
import { inScope } from '../db/scope.ts';
import { newId } from '../ids.ts';
import type { Logger } from '../telemetry/logger.ts';
import { createAuthorityPem, fingerprintOf, openAuthority, type Authority } from './authority.ts';
import type { Sealer } from './seal.ts';
import type { StepCa } from './step-ca.ts';
import { first, present } from '../present.ts';

export const AUTHORITIES_CHANNEL = 'gpuaas_node_authorities';

/** A lost notification costs at most this long. */
const REREAD_MS = 30_000;
const FIRST_LOCK = 4_872_003;
const SEAL_CONTEXT = 'ca';

export interface AuthoritiesOptions {
  /** Connection of the login user, which creates the first CA. */
  db: Db;
  listener: Listener;
  sealer: Sealer;
  log: Logger;
  /** Signs instead of our own CA. */
  stepCa?: StepCa | null;
  rereadMs?: number;
}

type IssuingAuthority = Authority & { issue: NonNullable<Authority['issue']> };

/**
 * The trusted CAs, cached in this process and read again when one changes.
 * The newest signs certificates of hosts. The certificate of our own port is signed by the oldest trusted CA:
 * every host with a valid certificate, of any CA, trusts that one, so no host is cut off while two overlap.
 */
export class Authorities {
  readonly #options: AuthoritiesOptions;
  readonly #stopListening: () => void;
  readonly #timer: NodeJS.Timeout;
  readonly #watchers = new Set<() => void>();
  #inForce: readonly Authority[] = [];
  #bundle = { pem: '', sha256: '' };
  #reading: Promise<void> = Promise.resolve();

  private constructor(options: AuthoritiesOptions) {
    this.#options = options;
    const reread = (): void =>
      void this.refresh().catch((error: unknown) =>
        options.log.warn({ err: error }, 'the CAs of hosts could not be read again'),
      );
    this.#stopListening = options.listener.on(AUTHORITIES_CHANNEL, reread);
    this.#timer = setInterval(reread, options.rereadMs ?? REREAD_MS);
    this.#timer.unref();
  }

  static async open(options: AuthoritiesOptions): Promise<Authorities> {
    await ensureSigning(options);
    const authorities = new Authorities(options);
    try {
      await authorities.refresh();
    } catch (error) {
      await authorities.close();
      throw error;
    }
    return authorities;
  }

  /** Signs new certificates. */
  get signing(): IssuingAuthority {
    return present(
      this.#issuing.find((authority) => authority.state === 'signing'),
      'signing authority',
    );
  }

  /** Signs the certificate of our own port. */
  get serving(): IssuingAuthority {
    return first(this.#issuing, 'issuing authority');
  }

  get #issuing(): IssuingAuthority[] {
    return this.#inForce.filter((authority): authority is IssuingAuthority => authority.issue !== null);
  }

  /** CAs that agents must trust. */
  get bundle(): { pem: string; sha256: string } {
    return this.#bundle;
  }

  /** Trusted CAs that the transaction sees, in case the notification has not arrived here yet. */
  async inStepWith(tx: Tx): Promise<Authorities> {
    const rows = await tx
      .selectFrom('node_authorities')
      .select(['id', 'state'])
      .where('state', '!=', 'retired')
      .orderBy('id')
      .execute();
    if (signatureOf(rows) !== signatureOf(this.#inForce)) await this.refresh();
    return this;
  }

  onChange(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** A running read may have missed a change, so each caller waits for a read that starts now. */
  refresh(): Promise<void> {
    this.#reading = this.#reading.catch(() => undefined).then(() => this.#read());
    return this.#reading;
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stopListening();
    await Promise.allSettled([this.#reading]);
  }

  async #read(): Promise<void> {
    const { db, sealer, log, stepCa = null } = this.#options;
    const rows = await inScope(db, { role: 'gpuaas_node' }, (tx) =>
      tx
        .selectFrom('node_authorities')
        .select(['id', 'state', 'kind', 'certificate_pem', 'sealed_private_key'])
        .where('state', '!=', 'retired')
        .orderBy('id')
        .execute(),
    );
    if (signatureOf(rows) === signatureOf(this.#inForce)) return;
    this.#inForce = await Promise.all(
      rows.map(async ({ id, state, kind, certificate_pem: certificatePem, sealed_private_key: sealed }) => {
        const row = { id, state: state as Authority['state'] };
        if (kind === 'step_ca') return externalAuthority(row, certificatePem, stepCa);
        return await openAuthority(row, {
          certificatePem,
          privatePem: openKey(sealer, present(sealed, 'sealed key')),
        });
      }),
    );
    const pem = this.#inForce.map((authority) => authority.pem.trimEnd()).join('\n');
    this.#bundle = { pem, sha256: createHash('sha256').update(pem).digest('hex') };
    log.info({ signing: this.signing.id, serving: this.serving.id }, 'CAs of hosts in force');
    for (const watcher of this.#watchers) watcher();
  }
}

/** The new CA signs; the previous one stays trusted. */
export async function addAuthority(tx: Tx, sealer: Sealer): Promise<string> {
  const { certificatePem, privatePem } = await createAuthorityPem();
  const id = newId();
  await tx.updateTable('node_authorities').set({ state: 'trusted' }).where('state', '=', 'signing').execute();
  await tx
    .insertInto('node_authorities')
    .values({
      id,
      certificate_pem: certificatePem,
      sealed_private_key: sealer.seal('node_authority', privatePem, SEAL_CONTEXT),
      state: 'signing',
    })
    .execute();
  await announce(tx);
  return id;
}

/** Its certificates are no longer trusted, and its key is gone. */
export async function distrustAuthority(tx: Tx, id: string, now: Date): Promise<void> {
  await tx
    .updateTable('node_authorities')
    .set({ state: 'retired', retired_at: now, sealed_private_key: null })
    .where('id', '=', id)
    .where('state', '=', 'trusted')
    .execute();
  await announce(tx);
}

async function announce(tx: Tx): Promise<void> {
  await sql`select pg_notify(${AUTHORITIES_CHANNEL}, '')`.execute(tx);
}

/** The CA configured for this process signs; a previous one stays trusted until no host depends on it. */
async function ensureSigning({ db, sealer, stepCa }: AuthoritiesOptions): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${FIRST_LOCK})`.execute(tx);
    const signing = await tx
      .selectFrom('node_authorities')
      .select(['kind', 'certificate_pem'])
      .where('state', '=', 'signing')
      .executeTakeFirst();
    if (stepCa) {
      if (signing?.certificate_pem !== stepCa.rootPem) await addExternalAuthority(tx, stepCa.rootPem);
    } else if (signing?.kind !== 'in_process') {
      await addAuthority(tx, sealer);
    }
  });
}

/** A trusted root signs again under its existing row. */
async function addExternalAuthority(tx: Tx, rootPem: string): Promise<void> {
  await tx.updateTable('node_authorities').set({ state: 'trusted' }).where('state', '=', 'signing').execute();
  const known = await tx
    .updateTable('node_authorities')
    .set({ state: 'signing' })
    .where('certificate_pem', '=', rootPem)
    .where('state', '=', 'trusted')
    .executeTakeFirst();
  if (known.numUpdatedRows === 0n) {
    await tx
      .insertInto('node_authorities')
      .values({ id: newId(), kind: 'step_ca', certificate_pem: rootPem, state: 'signing' })
      .execute();
  }
  await announce(tx);
}

function externalAuthority(
  row: { id: string; state: Authority['state'] },
  pem: string,
  stepCa: StepCa | null,
): Authority {
  const issue = stepCa?.rootPem === pem ? stepCa.issue.bind(stepCa) : null;
  return { ...row, pem, fingerprint: fingerprintOf(pem), issue };
}

function signatureOf(authorities: readonly { id: string; state: string }[]): string {
  return authorities.map(({ id, state }) => `${id} ${state}`).join(', ');
}

function openKey(sealer: Sealer, sealed: Buffer): string {
  try {
    return sealer.open('node_authority', sealed, SEAL_CONTEXT);
  } catch (error) {
    throw new Error('the key of a CA was sealed with another platform key; restore platform.key', {
      cause: error,
    });
  }
}
