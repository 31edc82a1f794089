/** Cache of workers, outside of the checkout so that all checkouts of a version share it. */

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  accessSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { patches } from './patches.ts'

/** Worker in a temporary folder of the cache, with the folder's final name after verification. */
export interface Candidate {
  readonly folder: string
  readonly binary: string
  readonly name: string
}

/** Returns a folder that all checkouts of this user share. */
export const sharedFolder = (name: string): string =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'trunkline', name)

/** Returns the folder of all built and downloaded workers. */
export const cacheFolder = (): string => sharedFolder('worker')

const recipeFolder = import.meta.dirname

/** Files that, with the patches, determine the result of a build. */
const recipeFiles = ['CMakeLists.txt', 'shim/srtp.h', 'shim/secure_random.h', 'shim/ankerl/unordered_dense.h']

/** Returns a hash of the recipe, as twelve hexadecimal digits. */
export const recipeHash = (): string => {
  // The patches count by their content, so that a new comment beside them causes no new build.
  const hash = createHash('sha256').update(JSON.stringify(patches))
  for (const file of recipeFiles) hash.update(file).update(readFileSync(join(recipeFolder, file)))
  return hash.digest('hex').slice(0, 12)
}

/** Returns a hash of the compiler and the libraries, as twelve hexadecimal digits. */
export const toolHash = (): string => {
  const ask = (command: string, ...args: string[]): string =>
    spawnSync(command, args, { encoding: 'utf8' }).stdout ?? ''
  return createHash('sha256')
    .update(ask('pkg-config', '--modversion', 'openssl', 'libuv', 'libsrtp2', 'absl_strings', 'flatbuffers'))
    .update(ask('c++', '-dumpfullversion', '-dumpmachine'))
    .digest('hex')
    .slice(0, 12)
}

/** Returns the name of the folder of a downloaded worker. */
export const prebuiltName = (version: string): string =>
  `${version}-prebuilt-${process.platform}-${process.arch}`

/** Returns the name of the folder of a locally built worker. */
export const builtName = (version: string): string => `${version}-${recipeHash()}${toolHash()}`

/** Whether the system can run the file; without arguments a worker exits with code 41. */
export const starts = (binary: string): boolean => {
  try {
    accessSync(binary, constants.X_OK)
  } catch {
    return false
  }
  return spawnSync(binary, { env: {}, stdio: 'ignore', timeout: 10_000 }).status === 41
}

/**
 * Returns the path of a cached worker of this version, if any. A worker built with this recipe counts even
 * after updates of its libraries, if it still starts. The machine may thus have no compiler any more.
 */
export const cachedWorker = (version: string, prebuiltToo: boolean): string | undefined => {
  const folder = cacheFolder()
  let names: string[]
  try {
    names = readdirSync(folder)
  } catch {
    return undefined
  }
  const wanted = [
    ...(prebuiltToo ? names.filter((name) => name === prebuiltName(version)) : []),
    ...names.filter((name) => name.startsWith(`${version}-${recipeHash()}`)),
  ]
  return wanted.map((name) => join(folder, name, 'mediasoup-worker')).find(starts)
}

/** Creates a temporary folder in the cache. */
export const temporaryFolder = (): string => {
  mkdirSync(cacheFolder(), { recursive: true })
  return mkdtempSync(join(cacheFolder(), 'new-'))
}

/** Verifies a worker, moves it to its final folder atomically, and returns its path there. */
export const remember = async (candidate: Candidate, verify: () => Promise<void>): Promise<string> => {
  const target = join(cacheFolder(), candidate.name)
  try {
    await verify()
    rmSync(target, { recursive: true, force: true })
    renameSync(candidate.folder, target)
  } finally {
    rmSync(candidate.folder, { recursive: true, force: true })
  }
  return join(target, 'mediasoup-worker')
}
