import type { ProblemDetail } from '../../../platform/http/problem.ts';
import { faultsOfManifest, type JudgedManifest } from '../catalog/check-manifest.ts';

/** Checks that an artifact and the versions that reference it must pass before it is staged. */
export function lintArtifact(
  { bytes, hasSbom }: { bytes: number; hasSbom: boolean },
  versions: readonly (JudgedManifest & { slug: string; version: string })[],
  { maxBytes, sbomRequired }: { maxBytes: number; sbomRequired: boolean },
): ProblemDetail[] {
  const faults: ProblemDetail[] = [];
  if (bytes > maxBytes) faults.push({ pointer: '/bytes', detail: `are ${bytes}, and at most ${maxBytes}` });
  if (bytes === 0) faults.push({ pointer: '/bytes', detail: 'the payload is empty' });
  if (sbomRequired && !hasSbom)
    faults.push({ pointer: '/sbom', detail: 'no referrer in the registry is a bill of materials' });
  if (versions.length === 0)
    faults.push({ pointer: '/versions', detail: 'no manifest version references the artifact' });
  for (const version of versions)
    for (const { pointer, detail } of faultsOfManifest(version))
      faults.push({ pointer: `/versions/${version.slug}/${version.version}${pointer}`, detail });
  return faults;
}
