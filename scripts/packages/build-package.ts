import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'

/** Root of the repository. */
export const repository = dirname(dirname(import.meta.dirname))

/** Folders of the packages for npm. */
export const packageFolders = ['client', 'react', 'realtime', 'sip-agent'] as const

/** Folder of a package for npm. */
export type PackageFolder = (typeof packageFolders)[number]

/** Manifest of a package, as far as the build reads it. */
interface Manifest {
  readonly name: string
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
  readonly scripts?: object
  readonly devDependencies?: object
  readonly private?: boolean
}

/** Files that belong to each package besides its modules. */
const texts = ['README.md', 'CHANGELOG.md'] as const

/** Returns the path of the TypeScript compiler. */
export const compiler = (): string => {
  const require = createRequire(import.meta.url)
  const manifest = require.resolve('typescript/package.json')
  return join(dirname(manifest), require(manifest).bin.tsc)
}

/**
 * Returns the exports of the built form: each module with its types. `sources` is the folder whose content
 * becomes the root of the package. Helpers for tests are not part of it.
 */
const builtExports = (exports: Manifest['exports'], sources: string): Record<string, object> =>
  Object.fromEntries(
    Object.entries(exports)
      .filter(([name]) => !name.startsWith('./testing/'))
      .map(([name, target]) => {
        const file = typeof target === 'string' ? target : target.default
        const stem = `./${relative(sources, file.replace(/\.ts$/, ''))}`
        return [name, { types: `${stem}.d.ts`, default: `${stem}.js` }]
      }),
  )

/**
 * Builds the form of a package that npm installs: ES modules with types and source maps. Node does not strip
 * types below `node_modules`. Replaces the folder `to`. Throws if the compiler reports an error.
 */
export const buildPackage = (name: PackageFolder, to: string): void => {
  const root = join(repository, name)
  rmSync(to, { recursive: true, force: true })
  execFileSync(process.execPath, [compiler(), '-p', join(root, 'tsconfig.build.json'), '--outDir', to], {
    stdio: 'inherit',
  })
  const source = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest
  const { private: _private, scripts: _scripts, devDependencies: _dev, ...kept } = source
  const exports = builtExports(kept.exports, existsSync(join(root, 'src')) ? 'src' : '.')
  const bundle = name === 'client' ? addBundle(root, to) : {}
  const manifest = { ...kept, sideEffects: false, exports: { ...exports, ...bundle } }
  writeFileSync(join(to, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  for (const text of texts) cpSync(join(root, text), join(to, text))
}

/** Adds the single-file builds for pages without a bundler. Returns their exports. */
const addBundle = (root: string, to: string): Record<string, string> => {
  execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
  mkdirSync(join(to, 'bundle'))
  return Object.fromEntries(
    ['trunkline', 'push'].flatMap((stem) => {
      cpSync(join(root, 'dist', `${stem}.d.ts`), join(to, 'bundle', `${stem}.d.ts`))
      return [`${stem}.js`, `${stem}.global.js`].map((file) => {
        cpSync(join(root, 'dist', file), join(to, 'bundle', file))
        cpSync(join(root, 'dist', `${file}.map`), join(to, 'bundle', `${file}.map`))
        return [`./bundle/${file}`, `./bundle/${file}`]
      })
    }),
  )
}

/** Packs a built package. Returns the path of the tarball in the folder `into`. */
export const packPackage = (built: string, into: string): string => {
  const name = execFileSync('npm', ['pack', '--silent', '--pack-destination', into, built], {
    cwd: into,
    encoding: 'utf8',
  })
  return join(into, name.trim())
}
