import { AppRefusal } from '../../web/app-refusal.ts';
import { textOf } from '../../text-of.ts';
import { Audience } from './audience.ts';
import { Kernel } from './kernel.ts';
import { KERNEL_NAME } from './kernel-info.ts';

const MAX_KERNELS = 16;

/** The kernels that run. */
export class Kernels {
  readonly #kernels = new Map<string, Kernel>();

  list(): Kernel[] {
    return [...this.#kernels.values()];
  }

  start(name: unknown, folder: string): Kernel {
    if (name !== undefined && name !== null && name !== '' && name !== KERNEL_NAME)
      throw new AppRefusal(400, 'unknown_kernel', `There is no kernel ${textOf(name).slice(0, 100)}.`);
    if (this.#kernels.size >= MAX_KERNELS)
      throw new AppRefusal(503, 'too_many_kernels', `${MAX_KERNELS} kernels run already. Shut one down.`);
    const kernel = new Kernel({ name: KERNEL_NAME, folder, audience: new Audience() });
    this.#kernels.set(kernel.id, kernel);
    return kernel;
  }

  find(id: string): Kernel | null {
    return this.#kernels.get(id) ?? null;
  }

  get(id: string): Kernel {
    const kernel = this.find(id);
    if (!kernel) throw new AppRefusal(404, 'unknown_kernel', 'There is no such kernel.');
    return kernel;
  }

  async shutDown(id: string): Promise<void> {
    const kernel = this.get(id);
    this.#kernels.delete(id);
    await kernel.stop();
  }

  async shutDownAll(): Promise<void> {
    await Promise.all(this.list().map(({ id }) => this.shutDown(id)));
  }
}
