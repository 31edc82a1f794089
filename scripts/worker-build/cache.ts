/** The cache of workers, outside the checkout so that every checkout of the same version shares it. */

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

/** A worker in a temporary folder of the cache, and the name that the folder gets when the worker has proved to work. */
export interface Candidate {
  readonly folder: string
  readonly binary: string
  readonly name: string
}

/** Where everything that was built or downloaded is kept. */
export const cacheFolder = (): string =>
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'trunkline', 'worker')

const recipeFolder = import.meta.dirname

/** The files that decide what a build gives. */
const recipeFiles = [
  'CMakeLists.txt',
  'patches.ts',
  'shim/srtp.h',
  'shim/secure_random.h',
  'shim/ankerl/unordered_dense.h',
]

/** Twelve hexadecimal digits over the recipe. */
export const recipeHash = (): string => {
  const hash = createHash('sha256')
  for (const file of recipeFiles) hash.update(file).update(readFileSync(join(recipeFolder, file)))
  return hash.digest('hex').slice(0, 12)
}

/** Twelve hexadecimal digits over what the build links and compiles with. */
export const toolHash = (): string => {
  const ask = (command: string, ...args: string[]): string =>
    spawnSync(command, args, { encoding: 'utf8' }).stdout ?? ''
  return createHash('sha256')
    .update(ask('pkg-config', '--modversion', 'openssl', 'libuv', 'libsrtp2', 'absl_strings', 'flatbuffers'))
    .update(ask('c++', '-dumpfullversion', '-dumpmachine'))
    .digest('hex')
    .slice(0, 12)
}

/** Name of the folder of a downloaded worker. */
export const prebuiltName = (version: string): string =>
  `${version}-prebuilt-${process.platform}-${process.arch}`

/** Name of the folder of a worker built here. */
export const builtName = (version: string): string => `${version}-${recipeHash()}${toolHash()}`

/** Whether the file is there and the system can load it: started bare, a worker complains with exit code 41. */
export const starts = (binary: string): boolean => {
  try {
    accessSync(binary, constants.X_OK)
  } catch {
    return false
  }
  return spawnSync(binary, { env: {}, stdio: 'ignore', timeout: 10_000 }).status === 41
}

/**
 * The path of a kept worker of this version, or undefined. One built with this recipe counts even if its libraries have been updated since,
 * as long as the system can load it; that also serves a machine on which the compiler was removed after the build.
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

/** A new temporary folder in the cache. */
export const temporaryFolder = (): string => {
  mkdirSync(cacheFolder(), { recursive: true })
  return mkdtempSync(join(cacheFolder(), 'new-'))
}

/** Moves a worker that passes `proof` to its final place in one step, whole or not at all; returns its path there. */
export const remember = async (candidate: Candidate, proof: () => Promise<void>): Promise<string> => {
  const target = join(cacheFolder(), candidate.name)
  try {
    await proof()
    rmSync(target, { recursive: true, force: true })
    renameSync(candidate.folder, target)
  } finally {
    rmSync(candidate.folder, { recursive: true, force: true })
  }
  return join(target, 'mediasoup-worker')
}
