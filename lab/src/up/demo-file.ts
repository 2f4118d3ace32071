import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SeededPerson } from '@gpuaas/control-plane/domains/tenancy/seed-demo-people';

interface DemoFile {
  base_url: string;
  node_url: string;
  people: { role: string; email: string; password: string; api_key: string; project_id: string | null }[];
}

/** API keys by e-mail that an earlier start handed out. */
export async function readDemoKeys(dataDir: string): Promise<Map<string, string>> {
  try {
    const file: DemoFile = JSON.parse(await readFile(join(dataDir, 'demo.json'), 'utf8'));
    return new Map(file.people.map((person) => [person.email, person.api_key]));
  } catch {
    return new Map();
  }
}

/** `demo.json`: where the platform is and who one can be, for curl and programs. */
export async function writeDemoFile(
  dataDir: string,
  urls: { baseUrl: string; nodeUrl: string },
  people: SeededPerson[],
): Promise<string> {
  const content: DemoFile = {
    base_url: urls.baseUrl,
    node_url: urls.nodeUrl,
    people: people.map(({ role, email, password, apiKey, projectId }) => ({
      role,
      email,
      password,
      api_key: apiKey,
      project_id: projectId,
    })),
  };
  const path = join(dataDir, 'demo.json');
  await writeFile(`${path}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
  await rename(`${path}.new`, path);
  return path;
}
