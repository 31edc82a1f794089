/** Debian packages for a build. */
import { spawnSync } from 'node:child_process'

/**
 * Names of the Debian packages for a build: compiler, tools and headers of libraries. The last two are for
 * the composer, which is optional.
 */
export const packages = [
  'g++',
  'cmake',
  'ninja-build',
  'pkg-config',
  'libssl-dev',
  'libuv1-dev',
  'libsrtp2-dev',
  'libabsl-dev',
  'libflatbuffers-dev',
  'flatbuffers-compiler',
  'libvpx-dev',
  'libyuv-dev',
] as const

/**
 * Whether the worker's programs and libraries exist; quicker and more exact than a query of the package
 * manager.
 */
const isComplete = (): boolean =>
  ['c++', 'cmake', 'ninja', 'flatc'].every(
    (tool) => spawnSync(tool, ['--version'], { stdio: 'ignore' }).status === 0,
  ) &&
  spawnSync('pkg-config', ['--exists', 'openssl', 'libuv', 'libsrtp2', 'absl_strings', 'flatbuffers'], {
    stdio: 'ignore',
  }).status === 0

const apt = (...args: string[]): boolean => {
  const run = spawnSync('apt-get', ['-qq', '-y', '-o=Dpkg::Use-Pty=0', ...args], {
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    encoding: 'utf8',
  })
  if (run.status !== 0) process.stderr.write(run.stderr || run.error?.message || '')
  return run.status === 0
}

/** Installs missing packages as root. Throws with the command to run for other users and after a failure. */
export const ensurePackages = (say: (text: string) => void): void => {
  if (isComplete()) return
  const command = `apt-get install -y --no-install-recommends ${packages.join(' ')}`
  if (process.getuid?.() !== 0)
    throw new Error(`the build needs Debian packages. Run this once, then repeat:\n  sudo ${command}`)
  say('installing the Debian packages that the build needs')
  const done =
    apt('install', '--no-install-recommends', ...packages) ||
    (apt('update') && apt('install', '--no-install-recommends', ...packages))
  if (!done || !isComplete())
    throw new Error(`the Debian packages could not be installed. Run by hand:\n  ${command}`)
}
