/** Folder of an installed gateway: the files that run, without tests, sources of pages, and tools. */
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'

/** Root of the repository. */
export const repository = dirname(dirname(import.meta.dirname))

/** Folders with TypeScript that the gateway runs. */
const sources = ['gateway', 'sip-agent', 'handlers', 'media', 'config'] as const

/** Other files and folders, each built or as it is. */
const others = [
  'package.json',
  'scripts/trunkline',
  'scripts/healthcheck',
  'client/package.json',
  'client/dist',
  'console/package.json',
  'console/dist',
  'realtime/package.json',
  'react/package.json',
  'docs/.vitepress/dist',
] as const

/** Kinds of files below {@link sources} that a gateway uses. Keys, stores and configurations have others. */
const usedKinds = new Set(['.ts', '.node', '.sh'])

/** Further files that a gateway uses, by name. */
const usedNames = new Set(['package.json', 'schema.json', 'openapi-examples.json'])

/**
 * Folders below {@link sources} that stay out: those of tests and builds, and `data`, where `scripts/run`
 * keeps the keys and the store of the example.
 */
const unused = new Set(['node_modules', 'testing', 'example', 'dist', 'data'])

/** Parts of packages that only their builds use. */
const unusedInPackages = ['node_modules/mediasoup/worker', 'node_modules/mediasoup/npm-scripts.mjs']

/** Settings of {@link copyInstallation}. */
export interface InstallationOptions {
  /** Path of the mediasoup worker; it becomes `libexec/mediasoup-worker`. */
  readonly worker: string
  /** Node to use, at this path of the target system; default the one among the packages, which is copied. */
  readonly node?: string
  /** Folder of the clone; default {@link repository}. */
  readonly from?: string
}

/** Entry of the lock file. */
interface LockedPackage {
  readonly dev?: boolean
  readonly link?: boolean
}

/** Returns the folders of the npm packages that the gateway needs, from the lock file. */
export const neededPackages = (root: string): readonly string[] => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>
  }
  return Object.entries(packages)
    .filter(([path, { dev, link }]) => path.startsWith('node_modules/') && !dev && !link)
    .map(([path]) => path)
    .filter((path) => existsSync(join(root, path)))
}

/** Whether a folder or file below {@link sources} belongs to an installation. */
const isUsed = (path: string): boolean => {
  const name = basename(path)
  if (unused.has(name) || name.endsWith('.test.ts')) return false
  return lstatSync(path).isDirectory() || usedKinds.has(extname(name)) || usedNames.has(name)
}

/**
 * Gives each folder and file of a tree the mode 0755 or 0644, by whether its owner may execute it. The user
 * of the gateway then reads the files, whatever the umask of the builder is.
 */
export const setModes = (path: string): void => {
  const status = lstatSync(path)
  if (status.isSymbolicLink()) return
  chmodSync(path, status.isDirectory() || status.mode & 0o100 ? 0o755 : 0o644)
  if (status.isDirectory()) for (const name of readdirSync(path)) setModes(join(path, name))
}

/**
 * Copies the files of an installed gateway into an empty folder. The repository must be set up: packages,
 * pages, documentation. Throws if a part is missing.
 */
export const copyInstallation = (
  to: string,
  { worker, node, from = repository }: InstallationOptions,
): void => {
  const copy = (path: string, filter?: (source: string) => boolean): void => {
    const source = join(from, path)
    if (!existsSync(source)) throw new Error(`${path} is missing; run scripts/setup first`)
    cpSync(source, join(to, path), { recursive: true, ...(filter && { filter }) })
  }
  for (const path of sources) copy(path, isUsed)
  for (const path of others) copy(path)
  for (const path of neededPackages(from)) {
    if (path === 'node_modules/node' && node !== undefined) continue
    // Packages below other packages have entries of their own in the lock file.
    copy(path, (source) => basename(source) !== 'node_modules')
  }
  for (const path of unusedInPackages) rmSync(join(to, path), { recursive: true, force: true })
  mkdirSync(join(to, 'node_modules', '.bin'))
  symlinkSync(node ?? '../node/bin/node', join(to, 'node_modules', '.bin', 'node'))
  mkdirSync(join(to, 'node_modules', '@trunkline'), { recursive: true })
  symlinkSync('../../sip-agent', join(to, 'node_modules', '@trunkline', 'sip-agent'))
  mkdirSync(join(to, 'libexec'))
  const installed = join(to, 'libexec', 'mediasoup-worker')
  cpSync(worker, installed)
  chmodSync(installed, 0o755)
  setModes(to)
}
