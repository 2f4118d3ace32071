import { createHash } from 'node:crypto';

export const OCI_MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
export const OCI_INDEX = 'application/vnd.oci.image.index.v1+json';

export interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}

export function digestOf(content: Buffer | string): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

export function descriptorOf(content: Buffer | string, mediaType: string): Descriptor {
  return { mediaType, digest: digestOf(content), size: Buffer.byteLength(content) };
}

/** Requests as a client of a registry makes them, each answer as it is. */
export class OciClient {
  readonly origin: string;
  readonly #authorization: string | null;

  constructor(origin: string, password: string | null) {
    this.origin = origin;
    this.#authorization =
      password === null ? null : `Basic ${Buffer.from(`token:${password}`).toString('base64')}`;
  }

  async send(
    method: string,
    path: string,
    body?: Buffer | string,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return await fetch(new URL(path, this.origin), {
      method,
      redirect: 'manual',
      headers: { ...(this.#authorization ? { authorization: this.#authorization } : {}), ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : new Uint8Array(body) }),
    });
  }

  /** Address of a new upload. */
  async begin(repository: string): Promise<string> {
    const answer = await this.send('POST', `/v2/${repository}/blobs/uploads/`);
    await expectStatus(answer, 202);
    return answer.headers.get('location') ?? '';
  }

  /** Pushes a blob as most clients do: one PATCH with all of it, then an empty PUT. */
  async pushBlob(repository: string, content: Buffer | string): Promise<string> {
    const digest = digestOf(content);
    const place = await this.begin(repository);
    const patched = await this.send('PATCH', place, content, { 'content-type': 'application/octet-stream' });
    await expectStatus(patched, 202);
    const next = patched.headers.get('location') ?? '';
    await expectStatus(await this.send('PUT', `${next}?digest=${digest}`), 201);
    return digest;
  }

  async putManifest(
    repository: string,
    reference: string,
    manifest: object | string,
    mediaType = OCI_MANIFEST,
  ): Promise<Response> {
    const body = typeof manifest === 'string' ? manifest : JSON.stringify(manifest);
    return await this.send('PUT', `/v2/${repository}/manifests/${reference}`, body, {
      'content-type': mediaType,
    });
  }

  /** Pushes an image with one layer; answers the digest of its manifest. */
  async pushImage(repository: string, tag: string, layer: Buffer | string): Promise<string> {
    const manifest = imageOf(layer);
    await this.pushBlob(repository, layer);
    await this.pushBlob(repository, CONFIG);
    const answer = await this.putManifest(repository, tag, manifest);
    await expectStatus(answer, 201);
    return answer.headers.get('docker-content-digest') ?? '';
  }
}

const CONFIG = '{"architecture":"amd64","os":"linux"}';

export function imageOf(layer: Buffer | string, more: object = {}): object {
  return {
    schemaVersion: 2,
    mediaType: OCI_MANIFEST,
    config: descriptorOf(CONFIG, 'application/vnd.oci.image.config.v1+json'),
    layers: [descriptorOf(layer, 'application/vnd.oci.image.layer.v1.tar')],
    ...more,
  };
}

export async function expectStatus(answer: Response, status: number): Promise<void> {
  if (answer.status !== status)
    throw new Error(`${answer.url} answers ${answer.status}, not ${status}: ${await answer.text()}`);
}

export async function errorCode(answer: Response): Promise<string> {
  const { errors } = (await answer.json()) as { errors: { code: string }[] };
  return errors[0]?.code ?? 'none';
}
