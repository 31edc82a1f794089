/**
 * Native addons: the sockets of the media threads and the pictures of the composer. Each is compiled once and
 * cached with the workers.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const root = dirname(dirname(import.meta.dirname))

/** Library of the distribution that an addon uses. */
interface Library {
  readonly name: string
  /** Name for the linker. */
  readonly link: string
  /** A header that only its development package has. */
  readonly header: string
  /** Development package of Debian. */
  readonly package: string
}

/** Recipe of an addon. */
export interface Addon {
  readonly name: string
  /** Folder of the sources, and of the built addon, in the repository. */
  readonly folder: string
  readonly sources: readonly string[]
  readonly headers: readonly string[]
  readonly libraries: readonly Library[]
  /** Message about a missing addon, before the reason. */
  readonly without: string
}

/** Sockets of the media threads. */
export const socketsAddon: Addon = {
  name: 'udp',
  folder: 'media/edge/native',
  sources: ['udp.c', 'sockets.c'],
  headers: ['sockets.h'],
  libraries: [],
  without: "media threads use Node's own sockets, at a higher cost",
}

/** Pictures of the composer. */
export const picturesAddon: Addon = {
  name: 'compose',
  folder: 'media/compose/native',
  sources: ['compose.c', 'pictures.c'],
  headers: ['pictures.h'],
  libraries: [
    { name: 'libvpx', link: 'vpx', header: 'vpx/vp8cx.h', package: 'libvpx-dev' },
    { name: 'libyuv', link: 'yuv', header: 'libyuv/scale.h', package: 'libyuv-dev' },
  ],
  without: 'composer unavailable',
}

const require = createRequire(import.meta.url)
const headersFolder = (): string => dirname(require.resolve('node-api-headers/package.json'))

const flags = [
  '-std=c11',
  '-O2',
  '-Wall',
  '-Wextra',
  '-fPIC',
  '-shared',
  '-fvisibility=hidden',
  '-fstack-protector-strong',
  '-D_FORTIFY_SOURCE=2',
  '-Wl,-z,relro,-z,now',
]

/** Returns a hash of all inputs of the build, as twelve hexadecimal digits. */
const hashOf = ({ folder, sources, headers, libraries }: Addon): string => {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${flags}`)
  for (const file of [...sources, ...headers])
    hash.update(file).update(readFileSync(join(root, folder, file)))
  return hash
    .update(JSON.stringify(libraries))
    .update(readFileSync(join(headersFolder(), 'package.json')))
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

const isMissing = ({ header }: Library): boolean =>
  spawnSync('cc', ['-fsyntax-only', '-include', header, '-x', 'c', '/dev/null'], { stdio: 'ignore' })
    .status !== 0

/**
 * Compiles an addon to `target`, with further flags for instrumented builds. Throws with the compiler's
 * output, or with the Debian packages that are missing.
 */
export const compileAddon = (
  { folder, sources, libraries }: Addon,
  target: string,
  more: readonly string[] = [],
): void => {
  const args = [
    ...flags,
    ...more,
    '-I',
    join(headersFolder(), 'include'),
    ...sources.map((file) => join(root, folder, file)),
    '-o',
    target,
    ...libraries.map(({ link }) => `-l${link}`),
  ]
  const run = spawnSync('cc', args, { encoding: 'utf8' })
  if (run.error) throw new Error('no C compiler found (Debian: apt-get install gcc libc6-dev)')
  if (run.status === 0) return
  const missing = libraries.filter(isMissing)
  if (missing.length === 0) throw new Error(run.stderr.trim())
  const packages = missing.map((library) => library.package).join(' ')
  throw new Error(
    `${missing.map(({ name }) => name).join(' and ')} not found (Debian: apt-get install ${packages})`,
  )
}

/** Compiles to `target` atomically, and checks that this Node loads it. */
const build = (addon: Addon, target: string): void => {
  const fresh = `${target}.${process.pid}.node`
  try {
    compileAddon(addon, fresh)
    if (!loads(fresh)) throw new Error('this Node cannot load the addon')
    renameSync(fresh, target)
  } finally {
    rmSync(fresh, { force: true })
  }
}

const isSame = (a: string, b: string): boolean => existsSync(b) && readFileSync(a).equals(readFileSync(b))

/**
 * Builds an addon into `cacheFolder` unless it exists, and copies it to the path that `media/` loads.
 * Never fails: everything else works without the addon, and `say` receives the reason in one line.
 */
export const ensureAddon = (addon: Addon, cacheFolder: string, say: (text: string) => void): void => {
  const place = join(root, addon.folder, `${addon.name}.node`)
  try {
    const kept = join(cacheFolder, `${addon.name}-${hashOf(addon)}.node`)
    if (!existsSync(kept) || !loads(kept)) {
      mkdirSync(cacheFolder, { recursive: true })
      build(addon, kept)
    }
    if (isSame(kept, place)) return
    // The rename keeps the old file intact for a running gateway.
    copyFileSync(kept, `${place}.new`)
    renameSync(`${place}.new`, place)
  } catch (error) {
    const { message } = error as Error
    say(`${addon.without}: ${message}`)
  }
}
