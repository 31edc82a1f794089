/** `scripts/pack`: builds and packs the packages for npm. Arguments: a folder, then names of packages. */
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { buildPackage, type PackageFolder, packageFolders, packPackage } from './build-package.ts'

const [folder = 'dist', ...names] = process.argv.slice(2)
const unknown = names.filter((name) => !packageFolders.includes(name as PackageFolder))
if (unknown.length > 0) {
  process.stderr.write(`pack: no package ${unknown.join(', ')}; packages: ${packageFolders.join(', ')}\n`)
  process.exit(2)
}
const into = resolve(folder)
mkdirSync(into, { recursive: true })
const built = mkdtempSync(join(tmpdir(), 'trunkline-packages-'))
try {
  for (const name of names.length > 0 ? (names as PackageFolder[]) : packageFolders) {
    buildPackage(name, join(built, name))
    const tarball = packPackage(join(built, name), into)
    process.stdout.write(`${tarball}  ${(statSync(tarball).size / 1024).toFixed(0)} kB\n`)
  }
} finally {
  rmSync(built, { recursive: true, force: true })
}
