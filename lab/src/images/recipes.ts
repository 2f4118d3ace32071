/** Content of an image. Everything that could differ between two builds is fixed here. */
export interface Recipe {
  /** Name that launches use. */
  image: string;
  kind: 'base' | 'cuda-dev';
  /** Checks that a machine with this image must pass before it counts as ready. */
  readinessChecks: readonly ('nvidia_driver' | 'cuda_toolkit')[];
  suite: string;
  /** `{mirror}` is the archive of the release, `{updates}` that of a later moment; see `SNAPSHOT` and `UPDATES`. */
  sources: readonly string[];
  packages: readonly string[];
  /** Repositories beside the distribution's, with the fingerprint of the key that signs them. */
  vendors: readonly Vendor[];
  rootMib: number;
  /** Prefixes of forbidden packages. */
  never: readonly string[];
}

export interface Vendor {
  source: string;
  keyUrl: string;
  keyFingerprint: string;
}

/** Date of the archive: two builds see the same packages, however late the second is. */
export const SNAPSHOT = {
  at: '20240425T000000Z',
  epoch: 1_714_003_200,
  mirror: 'https://snapshot.ubuntu.com/ubuntu/20240425T000000Z',
  /** The keys that sign the archive; the package is pinned because nothing verifies it yet. */
  keyring: 'pool/main/u/ubuntu-keyring/ubuntu-keyring_2023.11.28.1_all.deb',
  keyringSha256: '36de43b15853ccae0028e9a767613770c704833f82586f28eb262f0311adb8a8',
} as const;

/**
 * Later snapshot for packages that are too new for the release. Times in an image stay those of `SNAPSHOT`.
 */
export const UPDATES = {
  at: '20260401T000000Z',
  mirror: 'https://snapshot.ubuntu.com/ubuntu/20260401T000000Z',
} as const;

const SYSTEM = [
  'ca-certificates',
  'cloud-guest-utils',
  'cloud-init',
  'dbus',
  'e2fsprogs',
  'iproute2',
  'linux-image-virtual',
  'locales',
  'netbase',
  'netplan.io',
  'openssh-server',
  'sudo',
  'systemd-resolved',
  'systemd-sysv',
  'udev',
];

/** Toolchains are for the developers' image; the base stays small and gives an intruder no compiler. */
const TOOLCHAINS = [
  'gcc',
  'g++',
  'clang',
  'make',
  'cmake',
  'cuda-',
  'nvidia-cuda-toolkit',
  'build-essential',
];

const driver = (branch: number): string[] => [
  `linux-modules-nvidia-${branch}-server-open-generic`,
  `nvidia-headless-no-dkms-${branch}-server-open`,
  `nvidia-utils-${branch}-server`,
];

const base: Recipe = {
  image: 'H200-ubuntu-24.04-gpuaas-slice',
  kind: 'base',
  readinessChecks: ['nvidia_driver'],
  suite: 'noble',
  sources: ['deb {mirror} noble main restricted'],
  packages: [...SYSTEM, ...driver(535)],
  vendors: [],
  rootMib: 2_560,
  never: TOOLCHAINS,
};

export const recipes = {
  base,
  cuda: {
    ...base,
    image: 'H200-ubuntu-24.04-cuda-13-gpuaas-slice',
    kind: 'cuda-dev',
    readinessChecks: ['nvidia_driver', 'cuda_toolkit'],
    sources: [
      'deb {mirror} noble main restricted universe',
      'deb {updates} noble-updates main restricted universe',
    ],
    // CUDA 13 needs driver 580 or newer.
    packages: [...SYSTEM, ...driver(580), 'build-essential', 'cuda-toolkit-13-0'],
    vendors: [
      {
        source:
          'deb [signed-by={key}] https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/x86_64/ /',
        keyUrl: 'https://developer.download.nvidia.com/compute/cuda/repos/ubuntu2404/x86_64/3bf863cc.pub',
        keyFingerprint: 'EB693B3035CD5710E231E123A4B469963BF863CC',
      },
    ],
    rootMib: 16_384,
    never: [],
  },
  /** The base without its driver, for hosts without GPUs. */
  lab: {
    ...base,
    image: 'lab-ubuntu-24.04',
    readinessChecks: [],
    sources: ['deb {mirror} noble main'],
    packages: SYSTEM,
    rootMib: 768,
  },
} satisfies Record<string, Recipe>;

export type RecipeName = keyof typeof recipes;
