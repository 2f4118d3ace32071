import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { descriptorOf, digestOf, expectStatus, imageOf, type OciClient } from '../registry/oci-client.ts';

const STATEMENT_TYPE = 'application/vnd.dev.cosign.simplesigning.v1+json';
const CONFIG = '{"architecture":"amd64","os":"linux"}';

export interface SigningKey {
  privateKey: KeyObject;
  /** As the policy takes it: the lines between those of the PEM file. */
  publicKey: string;
}

export function newSigningKey(kind: 'p256' | 'ed25519'): SigningKey {
  const { publicKey, privateKey } =
    kind === 'ed25519'
      ? generateKeyPairSync('ed25519')
      : generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return {
    privateKey,
    publicKey: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
  };
}

/** The statement that cosign signs. */
export function statementOf(digest: string): string {
  return JSON.stringify({
    critical: {
      identity: { 'docker-reference': '' },
      image: { 'docker-manifest-digest': digest },
      type: 'cosign container image signature',
    },
    optional: null,
  });
}

export function signStatement({ privateKey }: SigningKey, statement: string): Buffer {
  const algorithm = privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256';
  return sign(algorithm, Buffer.from(statement), privateKey);
}

/** Stores a signature where cosign does: under a tag that is named after the digest. */
export async function pushSignature(
  registry: OciClient,
  repository: string,
  digest: string,
  key: SigningKey,
  signedDigest = digest,
): Promise<string> {
  const statement = statementOf(signedDigest);
  await registry.pushBlob(repository, statement);
  await registry.pushBlob(repository, CONFIG);
  const tag = `${digest.replace(':', '-')}.sig`;
  const layer = {
    ...descriptorOf(statement, STATEMENT_TYPE),
    annotations: {
      'dev.cosignproject.cosign/signature': signStatement(key, statement).toString('base64'),
    },
  };
  await expectStatus(
    await registry.putManifest(repository, tag, imageOf(statement, { layers: [layer] })),
    201,
  );
  return tag;
}

const PLATFORM_STATEMENT = 'application/vnd.gpuaas.statement.v1+json';

/** Stores a statement of the platform's own format as a referrer of the artifact. */
export async function pushStatement(
  registry: OciClient,
  repository: string,
  digest: string,
  key: SigningKey,
  signed: { digest?: string; repository?: string } = {},
): Promise<void> {
  const statement = JSON.stringify({ type: 'gpuaas app artifact statement', repository, digest, ...signed });
  await registry.pushBlob(repository, statement);
  await registry.pushBlob(repository, CONFIG);
  const layer = {
    ...descriptorOf(statement, PLATFORM_STATEMENT),
    annotations: { 'vnd.gpuaas.statement/signature': signStatement(key, statement).toString('base64') },
  };
  const subject = { mediaType: 'application/vnd.oci.image.manifest.v1+json', digest, size: 1 };
  const manifest = imageOf(statement, { artifactType: PLATFORM_STATEMENT, layers: [layer], subject });
  const reference = digestOf(JSON.stringify(manifest));
  await expectStatus(await registry.putManifest(repository, reference, manifest), 201);
}
