/** Builds the Debian package: `deb.ts WORKER [--fast] [FOLDER]`. Prints the path of the package. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { manualPage } from '../documents/manual-page.ts'
import { copyInstallation, repository, setModes } from './tree.ts'

const templates = join(import.meta.dirname, 'debian')

/** Runs a command, whose errors appear only if it fails. */
const run = (command: string, ...args: string[]): string =>
  execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

/**
 * Returns the dependency on a Debian package that has a shared library. Its file `shlibs` has the least
 * version that fits, by the name and the version of the library (Debian Policy, 8.6.4).
 */
const dependencyOn = (owner: string, library: string): string => {
  let lines: readonly string[]
  try {
    lines = run('dpkg-query', '--control-show', owner, 'shlibs').split('\n')
  } catch {
    return owner
  }
  const fields = lines.map((line) => /^(\S+) (\S+) (\S.*)$/.exec(line))
  return fields.find((found) => found && library === `${found[1]}.so.${found[2]}`)?.[3] ?? owner
}

/** Returns the dependencies on the Debian packages with the shared libraries of programs. */
const librariesOf = (programs: readonly string[]): readonly string[] => {
  const linked = programs.map((program) => run('ldd', program)).join('')
  const paths = [...linked.matchAll(/=> (\/\S+)/g)].map(([, path]) => path!)
  // Debian 12 lists libraries below /usr, although the linker finds them through the link /lib.
  const owners = paths.flatMap((path) => {
    const found = [path, `/usr${path}`].map((each) => {
      try {
        return run('dpkg-query', '--search', each).split(':')[0]!
      } catch {
        return undefined
      }
    })
    const owner = found.find((each) => each !== undefined)
    return owner === undefined ? [] : dependencyOn(owner, basename(path))
  })
  return [...new Set(owners)].sort()
}

/** Returns the maintainer from the variables that Debian's tools use. */
const maintainer = (): string => {
  const { DEBFULLNAME = 'Trunkline', DEBEMAIL = 'root@localhost' } = process.env
  return `${DEBFULLNAME} <${DEBEMAIL}>`
}

/** Returns the fields of the package. */
const controlOf = (
  version: string,
  depends: readonly string[],
  recommends: readonly string[],
  sizeKb: number,
): string =>
  `${[
    'Package: trunkline',
    `Version: ${version}`,
    `Architecture: ${run('dpkg', '--print-architecture').trim()}`,
    'Section: comm',
    'Priority: optional',
    `Maintainer: ${maintainer()}`,
    `Installed-Size: ${sizeKb}`,
    `Depends: ${['adduser', ...depends].join(', ')}`,
    ...(recommends.length > 0 ? [`Recommends: ${recommends.join(', ')}`] : []),
    'Description: carrier edge in one daemon',
    ' SIP trunks in, programmable calls, browser subscribers out.',
  ].join('\n')}\n`

/** Writes a text with the mode of a program or of a file. */
const write = (file: string, text: string | Buffer, mode = 0o644): void => {
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, text)
  chmodSync(file, mode)
}

/** Fills the folder that becomes the package. */
const fill = (root: string, worker: string, version: string): void => {
  const template = (name: string) => readFileSync(join(templates, name))
  const library = join(root, 'usr', 'lib', 'trunkline')
  mkdirSync(library, { recursive: true })
  copyInstallation(library, { worker })
  write(join(root, 'usr', 'bin', 'trunkline'), template('trunkline'), 0o755)
  write(join(root, 'lib', 'systemd', 'system', 'trunkline.service'), template('trunkline.service'))
  const doc = join(root, 'usr', 'share', 'doc', 'trunkline')
  write(join(doc, 'changelog.gz'), gzipSync(readFileSync(join(repository, 'CHANGELOG.md'))))
  write(
    join(doc, 'copyright'),
    'The owner of Trunkline has not chosen a licence yet. All rights are reserved.\n',
  )
  cpSync(join(repository, 'README.md'), join(doc, 'README.md'))
  const completion = (shell: string) => run(join(library, 'scripts', 'trunkline'), 'completion', shell)
  const share = join(root, 'usr', 'share')
  write(join(share, 'bash-completion', 'completions', 'trunkline'), completion('bash'))
  write(join(share, 'zsh', 'vendor-completions', '_trunkline'), completion('zsh'))
  write(join(share, 'fish', 'vendor_completions.d', 'trunkline.fish'), completion('fish'))
  write(join(share, 'man', 'man1', 'trunkline.1.gz'), gzipSync(manualPage(version)))
  rmSync(join(library, 'node_modules', '.cache'), { recursive: true, force: true })
  const config = join(root, 'etc', 'trunkline', 'trunkline.yaml')
  write(config, template('trunkline.yaml'))
  setModes(root)
  chmodSync(config, 0o640)
}

const [worker, ...rest] = process.argv.slice(2)
if (worker === undefined) throw new Error('the path of the mediasoup worker is missing')
const isFast = rest[0] === '--fast'
const into = resolve(rest[isFast ? 1 : 0] ?? join(repository, 'dist'))
const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as { version: string }
mkdirSync(into, { recursive: true })
const root = mkdtempSync(join(tmpdir(), 'trunkline-deb-'))
try {
  chmodSync(root, 0o755)
  fill(root, worker, version)
  const sizeKb = Number(run('du', '-sk', root).split('\t')[0])
  const control = join(root, 'DEBIAN')
  mkdirSync(control)
  chmodSync(control, 0o755)
  const node = join(root, 'usr', 'lib', 'trunkline', 'node_modules', '.bin', 'node')
  const depends = librariesOf([worker, node])
  // Without its libraries the composer is off, and everything else works.
  const composer = join(root, 'usr/lib/trunkline/media/compose/native/compose.node')
  const recommends = existsSync(composer)
    ? librariesOf([composer]).filter((each) => !depends.includes(each))
    : []
  write(join(control, 'control'), controlOf(version, depends, recommends, sizeKb))
  write(join(control, 'conffiles'), '/etc/trunkline/trunkline.yaml\n')
  for (const name of ['postinst', 'prerm', 'postrm'])
    write(join(control, name), readFileSync(join(templates, name)), 0o755)
  const compression = isFast ? ['-Znone'] : ['-Zxz']
  run('dpkg-deb', '--root-owner-group', ...compression, '--build', root, into)
  const architecture = run('dpkg', '--print-architecture').trim()
  process.stdout.write(`${join(into, `trunkline_${version}_${architecture}.deb`)}\n`)
} finally {
  rmSync(root, { recursive: true, force: true })
}
