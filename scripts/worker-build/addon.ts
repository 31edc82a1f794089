/** Native sockets of the media threads: media/edge/native, compiled once and cached with the workers. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const root = dirname(dirname(import.meta.dirname))
const sourceFolder = join(root, 'media', 'edge', 'native')
const sources = ['udp.c', 'sockets.c']
/** Path from which media/edge loads the addon. */
const place = join(sourceFolder, 'udp.node')

const require = createRequire(import.meta.url)
const headers = (): string => dirname(require.resolve('node-api-headers/package.json'))

const flags = [
  '-std=c11',
  '-O2',
  '-Wall',
  '-Wextra',
  '-fPIC',
  '-shared',
  '-fvisibility=hidden',
  '-fstack-protector-strong',
]

/** Returns a hash of all inputs of the build, as twelve hexadecimal digits. */
const hashOf = (): string => {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${flags}`)
  for (const file of [...sources, 'sockets.h'])
    hash.update(file).update(readFileSync(join(sourceFolder, file)))
  return hash
    .update(readFileSync(join(headers(), 'package.json')))
    .digest('hex')
    .slice(0, 12)
}

const loads = (file: string): boolean => {
  try {
    return typeof require(file).version === 'number'
  } catch {
    return false
  }
}

/** Compiles to `target` atomically. Throws with the compiler's output. */
const compile = (target: string): void => {
  const fresh = `${target}.${process.pid}.node`
  const run = spawnSync(
    'cc',
    [
      ...flags,
      '-I',
      join(headers(), 'include'),
      ...sources.map((file) => join(sourceFolder, file)),
      '-o',
      fresh,
    ],
    { encoding: 'utf8' },
  )
  try {
    if (run.error) throw new Error('no C compiler found (Debian: apt-get install gcc libc6-dev)')
    if (run.status !== 0) throw new Error(run.stderr.trim())
    if (!loads(fresh)) throw new Error('this Node cannot load the addon')
    renameSync(fresh, target)
  } finally {
    rmSync(fresh, { force: true })
  }
}

const isSame = (a: string, b: string): boolean => existsSync(b) && readFileSync(a).equals(readFileSync(b))

/**
 * Builds the addon into `cacheFolder` unless it exists, and copies it to the path that media/edge loads.
 * Never fails: without the addon the media threads use Node's sockets, and `say` receives the reason.
 */
export const ensureAddon = (cacheFolder: string, say: (text: string) => void): void => {
  try {
    const kept = join(cacheFolder, `udp-${hashOf()}.node`)
    if (!existsSync(kept) || !loads(kept)) {
      mkdirSync(cacheFolder, { recursive: true })
      compile(kept)
    }
    if (isSame(kept, place)) return
    // The rename keeps the old file intact for a running gateway.
    copyFileSync(kept, `${place}.new`)
    renameSync(`${place}.new`, place)
  } catch (error) {
    const { message } = error as Error
    say(`media threads use Node's own sockets, at a higher cost: ${message}`)
  }
}
