/** The name of the embedded registry in references: the host at which clients reach it. */
export function registryHost(publicUrl: string): string {
  return new URL(publicUrl).host;
}

/** `registry/repository@sha256:…`, or the digest alone of an upload. */
export function artifactRef(
  host: string,
  { digest, repository }: { digest: string; repository: string | null },
): string {
  return repository === null ? digest : `${host}/${repository}@${digest}`;
}

/** The parts of a reference that has the form of the contract; no location if it is the digest alone. */
export function parseRef(ref: string): { location: string | null; digest: string } {
  const at = ref.lastIndexOf('@');
  return at === -1
    ? { location: null, digest: ref }
    : { location: ref.slice(0, at), digest: ref.slice(at + 1) };
}
