/** What Debian must provide for a build. */
import { spawnSync } from 'node:child_process'

/** The Debian packages that the build needs: compiler, tools and the libraries' headers. */
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
] as const

/** One command per program, one `pkg-config` name per library: cheaper and truer than asking the package manager. */
const present = (): boolean =>
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

/** Installs what is missing when root; throws with the one command to run when not, or when it fails. */
export const ensurePackages = (say: (text: string) => void): void => {
  if (present()) return
  const command = `apt-get install -y --no-install-recommends ${packages.join(' ')}`
  if (process.getuid?.() !== 0)
    throw new Error(`the build needs Debian packages. Run this once, then again:\n  sudo ${command}`)
  say('installing the Debian packages that the build needs')
  const done =
    apt('install', '--no-install-recommends', ...packages) ||
    (apt('update') && apt('install', '--no-install-recommends', ...packages))
  if (!done || !present())
    throw new Error(`the Debian packages could not be installed. Try by hand:\n  ${command}`)
}
