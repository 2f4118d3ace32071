/**
 * An agent that only fetches one image: `fetch-image.ts folder source digest`. Prints its path, or the error.
 */
import { openImageCache } from '../host/linux/images/image-cache.ts';
import { TaskError } from '../tasks/task-error.ts';

const [folder = '', source = '', digest = ''] = process.argv.slice(2);
const images = openImageCache({ folder, sources: [source], maxBytes: 1e9 });
const step = { signal: new AbortController().signal, percent: () => undefined };
console.log('asking');
try {
  console.log(await images.use(digest, step, async (file) => file));
} catch (error) {
  console.log(error instanceof TaskError ? `${error.code}: ${error.message}` : String(error));
}
