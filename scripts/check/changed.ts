/** Files of the working copy that differ from main, and their tests. */
import { spawnSync } from 'node:child_process'

const git = (root: string, ...args: string[]): { readonly ok: boolean; readonly lines: string[] } => {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  return { ok: status === 0, lines: (stdout ?? '').split('\0').filter((line) => line !== '') }
}

/**
 * Returns the files that were changed or added since the branch left main, as paths below `root`.
 * Includes those that are not committed; without a main branch, here or at origin, no others.
 * Throws outside of a Git repository.
 */
export const changedFiles = (root: string): string[] => {
  const main = ['main', 'origin/main'].find((name) => git(root, 'rev-parse', '--verify', '--quiet', name).ok)
  const since = main === undefined ? ['HEAD'] : ['--merge-base', main]
  const changed = git(root, 'diff', '--name-only', '-z', '--relative', '--diff-filter=d', ...since)
  if (!changed.ok) throw new Error(`${root} is no working copy of a Git repository`)
  const added = git(root, 'ls-files', '-z', '--others', '--exclude-standard')
  return [...new Set([...changed.lines, ...added.lines])].sort()
}

/** Returns the unit tests among files, and those that lie beside them. Scenarios are left out. */
export const testsOf = (files: readonly string[], exists: (path: string) => boolean): string[] => {
  const tests = files.map((path) => path.replace(/(?:\.test)?\.tsx?$/, '.test.ts'))
  const isUnit = (path: string) =>
    path.endsWith('.test.ts') && (!path.startsWith('test/') || path.startsWith('test/support/'))
  return [...new Set(tests)].filter((path) => isUnit(path) && exists(path))
}
