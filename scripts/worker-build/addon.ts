/** The media threads' sockets: media/edge/native, compiled once and kept beside the workers. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const root = dirname(dirname(import.meta.dirname))
const sourceFolder = join(root, 'media', 'edge', 'native')
const sources = ['udp.c', 'sockets.c']
/** Where media/edge looks for it. */
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

/** Twelve hexadecimal digits over what decides what a build gives. */
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

/** Compiles to `target`, whole or not at all. Throws with the compiler's words. */
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
    if (run.error) throw new Error('there is no C compiler (Debian: apt-get install gcc libc6-dev)')
    if (run.status !== 0) throw new Error(run.stderr.trim())
    if (!loads(fresh)) throw new Error('this Node cannot load what was built')
    renameSync(fresh, target)
  } finally {
    rmSync(fresh, { force: true })
  }
}

const same = (a: string, b: string): boolean => existsSync(b) && readFileSync(a).equals(readFileSync(b))

/**
 * Builds the addon into `cacheFolder` if it is not there, and puts it where media/edge looks for it. Never fails: without it the media
 * threads use Node's own sockets, and `say` is told why.
 */
export const ensureAddon = (cacheFolder: string, say: (text: string) => void): void => {
  try {
    const kept = join(cacheFolder, `udp-${hashOf()}.node`)
    if (!existsSync(kept) || !loads(kept)) {
      mkdirSync(cacheFolder, { recursive: true })
      compile(kept)
    }
    if (same(kept, place)) return
    // Renamed into its place: a gateway that runs goes on with the old one.
    copyFileSync(kept, `${place}.new`)
    renameSync(`${place}.new`, place)
  } catch (error) {
    say(`the media threads will use Node's own sockets, which cost more: ${(error as Error).message}`)
  }
}
