/**
 * Builds the form of the package that npm installs: JavaScript with declarations. Node does not strip types
 * below `node_modules`.
 *
 *   node scripts/build.ts [FOLDER]     default `dist`
 */
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'

const root = dirname(import.meta.dirname)
const folder = resolve(process.argv[2] ?? join(root, 'dist'))

/** Returns the path of the TypeScript compiler. */
const compiler = (): string => {
  const require = createRequire(import.meta.url)
  const manifest = require.resolve('typescript/package.json')
  return join(dirname(manifest), require(manifest).bin.tsc)
}

/** Returns the exports of the built form. Helpers for tests are not part of it. */
const builtExports = (sources: Readonly<Record<string, string>>) => {
  const entries = Object.entries(sources).filter(([name]) => !name.startsWith('./testing/'))
  return Object.fromEntries(
    entries.map(([name, file]) => {
      const stem = file.replace(/\.ts$/, '')
      return [name, { types: `${stem}.d.ts`, default: `${stem}.js` }]
    }),
  )
}

rmSync(folder, { recursive: true, force: true })
execFileSync(process.execPath, [compiler(), '-p', join(root, 'tsconfig.build.json'), '--outDir', folder], {
  stdio: 'inherit',
})
const {
  private: _private,
  scripts: _scripts,
  devDependencies: _dev,
  ...kept
} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const manifest = { ...kept, exports: builtExports(kept.exports) }
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
cpSync(join(root, 'README.md'), join(folder, 'README.md'))
