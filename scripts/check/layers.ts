/** The order of layers: a table that the lint rules of `scripts/check/rules/layers.json` are made from. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Packages and top-level folders, with those of the project that each may import. */
export const packages: Readonly<Record<string, readonly string[]>> = {
  gateway: ['handlers', 'media', 'config', 'sip-agent'],
  'sip-agent': [],
  handlers: [],
  media: [],
  config: [],
  client: [],
  react: ['client'],
  realtime: [],
  console: ['client'],
}

/** Rooms of `gateway/` from the lowest layer to the highest: each imports only rooms before it. */
export const rooms = [
  'core',
  'model.ts',
  'directory',
  'reload',
  'auth',
  'cluster',
  'callbacks',
  'speech',
  'push',
  'calls',
  'streams',
  'recordings',
  'cdr',
  'chat',
  'calling',
  'sip',
  'rpc',
  'http',
  'app',
  'cli',
  'main.ts',
] as const

/**
 * Folders of `gateway/sip/` from the lowest layer to the highest: each imports only folders before it.
 * The files beside them serve every folder and import none of them; `sip-edge.ts` alone imports all.
 */
export const sipFolders = [
  'sdp',
  'digest',
  'media',
  'admission',
  'dialog',
  'trunks',
  'inbound',
  'outbound',
  'registrar',
] as const

/** Folders that no product folder imports. */
const neverImported = ['test', 'scripts']

/** Packages that import others by name; the relative path of such a package is closed to all others. */
const named = ['sip-agent', 'client', 'react', 'realtime']

/** One entry of `overrides` in biome's configuration. */
interface LayerRule {
  readonly includes: readonly string[]
  readonly linter: { readonly rules: { readonly style: { readonly noRestrictedImports: unknown } } }
}

const rule = (includes: readonly string[], group: readonly string[], message: string): LayerRule => {
  const noRestrictedImports = { level: 'error', options: { patterns: [{ group, message }] } }
  return { includes, linter: { rules: { style: { noRestrictedImports } } } }
}

/** Clients keep their sources in `src`; the gateway has a folder of its own that is called `realtime`. */
const clients = ['client', 'react', 'realtime', 'console']

const folder = (name: string): string => `../**/${name}/${clients.includes(name) ? 'src/' : ''}**`

/** Patterns of the imports that a package must not have. */
const closedTo = (name: string, allowed: readonly string[]): readonly string[] => [
  ...Object.keys(packages)
    .filter((other) => other !== name && (!allowed.includes(other) || named.includes(other)))
    .map(folder),
  ...neverImported.map(folder),
  '@trunkline/*',
  // A package with subpaths (`@trunkline/sip-agent/clock`) needs a pattern of its own.
  '@trunkline/*/**',
  ...[name, ...allowed]
    .filter((other) => named.includes(other))
    .flatMap((other) => [`!@trunkline/${other}`, `!@trunkline/${other}/**`]),
]

const listed = (names: readonly string[]): string =>
  names.length > 0 ? `${names.join(', ')} only` : 'nothing of ours'

/** Returns the lint rules: one for each package, room of the gateway and folder of `gateway/sip/`. */
export const layerRules = (): readonly LayerRule[] => {
  const ofPackages = Object.entries(packages).map(([name, allowed]) =>
    rule([`${name}/**`], closedTo(name, allowed), `${name}/ imports ${listed(allowed)}.`),
  )
  const closed = closedTo('gateway', packages.gateway ?? [])
  const ofRooms = rooms.map((room, at) => {
    const above = rooms.slice(at + 1)
    const below = rooms.slice(0, at)
    const includes = room.endsWith('.ts') ? `gateway/${room}` : `gateway/${room}/**`
    const groups = above.map((name) => (name.endsWith('.ts') ? `../**/${name}` : folder(name)))
    return rule(
      // Tests, and what they share, may build on rooms above.
      [includes, '!**/*.test.ts', '!**/testing/**'],
      [...closed, ...groups],
      `gateway/${room} imports ${listed(packages.gateway ?? [])}, and of gateway/ only: ${below.join(', ')}.`,
    )
  })
  return [...ofPackages, ...ofRooms, ...sipRules(closed)]
}

/** Returns the rules of the folders of `gateway/sip/`, which replace the room's rule and repeat it. */
const sipRules = (closed: readonly string[]): readonly LayerRule[] => {
  const above = rooms.slice(rooms.indexOf('sip') + 1)
  const groups = [...closed, ...above.map((name) => (name.endsWith('.ts') ? `../**/${name}` : folder(name)))]
  const unlike = ['!**/*.test.ts', '!**/testing/**']
  const ofFolders = sipFolders.map((name, at) => {
    const higher = sipFolders.slice(at + 1).map((other) => `../${other}/**`)
    return rule(
      [`gateway/sip/${name}/**`, ...unlike],
      [...groups, ...higher, '../sip-edge.ts'],
      `gateway/sip/${name} imports, of these folders, ${listed(sipFolders.slice(0, at))}.`,
    )
  })
  const ofFiles = rule(
    ['gateway/sip/*.ts', '!gateway/sip/sip-edge.ts', ...unlike],
    [...groups, ...sipFolders.map((name) => `./${name}/**`)],
    'Files beside the folders of gateway/sip import none of these folders.',
  )
  return [...ofFolders, ofFiles]
}

/** Path of the generated rules, which `biome.json` extends. */
export const layersFile = join(import.meta.dirname, 'rules', 'layers.json')

/** Returns the content of {@link layersFile}. */
export const layersJson = (): string => `${JSON.stringify({ overrides: layerRules() }, null, 2)}\n`

if (import.meta.main) writeFileSync(layersFile, layersJson())
