/**
 * Writes `dist/trunkline.d.ts` and `dist/push.d.ts` of the client: the types beside each script for pages
 * without npm. One file has all types of a script, so that a project needs no further ones.
 *
 *     node scripts/packages/bundle-types.ts
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { compiler, repository } from './build-package.ts'

/** Import, or export of another module, in the form that the compiler writes. */
const linking = /^(import|export)\b([^;']*)\bfrom '\.\/([^'/]+)\.ts';\n/gm

/** Start of a declaration that a module exports. */
const exported = /^export (?=(?:declare|interface|type) \w)/gm

/** Name that a declaration gives at the top level of its module. */
const declared =
  /^(?:export )?(?:declare )?(?:abstract )?(?:class|const|enum|function|interface|let|type) (\w+)/gm

/**
 * Joins the declarations of a module and of all that it imports. `read` returns the declarations of a module
 * by its name. Throws if two modules declare the same name, or one of them imports under another name.
 */
export const joinTypes = (entry: string, read: (module: string) => string): string => {
  const owners = new Map<string, string>()
  const parts = new Map<string, string>()
  const add = (module: string): void => {
    if (parts.has(module)) return
    parts.set(module, '')
    const source = read(module)
    for (const [, name = ''] of source.matchAll(declared)) {
      const owner = owners.get(name)
      if (owner !== undefined && owner !== module)
        throw new Error(`${module} and ${owner} both declare ${name}`)
      owners.set(name, module)
    }
    const links = [...source.matchAll(linking)]
    if (links.some(([, , names = '']) => /\*|\bas\b/.test(names)))
      throw new Error(`${module} imports under another name`)
    for (const [, , , linked = ''] of links) add(linked)
    const isEntry = module === entry
    const kept = source
      .replace(linking, (_all, kind, names) =>
        isEntry && kind === 'export' ? `export${names.trimEnd()};\n` : '',
      )
      .replace(/^export \{\};\n/gm, '')
      .trim()
    parts.set(module, isEntry ? kept : kept.replace(exported, ''))
  }
  add(entry)
  // With the last line, only what the entry exports is exported.
  return `${[...parts.values()].filter((part) => part !== '').join('\n')}\nexport {};\n`
}

if (import.meta.main) {
  const folder = mkdtempSync(join(tmpdir(), 'types-'))
  try {
    const project = join(repository, 'client', 'tsconfig.build.json')
    const only = ['--emitDeclarationOnly', '--sourceMap', 'false', '--inlineSources', 'false']
    execFileSync(process.execPath, [compiler(), '-p', project, ...only, '--outDir', folder], {
      stdio: 'inherit',
    })
    const read = (module: string): string => readFileSync(join(folder, `${basename(module)}.d.ts`), 'utf8')
    for (const [entry, script] of [
      ['index', 'trunkline'],
      ['push', 'push'],
    ] as const)
      writeFileSync(join(repository, 'client', 'dist', `${script}.d.ts`), joinTypes(entry, read))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
