import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { changedFiles, testsOf } from './changed.ts'

/** A repository with a commit on main, and functions that work in it. */
const repository = () => {
  const folder = mkdtempSync(join(tmpdir(), 'changed-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const git = (...args: string[]) => {
    const author = ['-c', 'user.name=t', '-c', 'user.email=t@example.test', '-c', 'commit.gpgsign=false']
    execFileSync('git', [...author, ...args], { cwd: folder, stdio: 'ignore' })
  }
  const write = (path: string, text = path) => {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const commit = () => {
    git('add', '-A')
    git('commit', '-q', '-m', 'change')
  }
  git('init', '-q', '-b', 'main')
  for (const name of ['old.ts', 'gone.ts', 'later.ts']) write(name)
  commit()
  return { folder, git, write, commit }
}

it('finds files that differ from main, committed or not', () => {
  const { folder, git, write, commit } = repository()
  git('checkout', '-q', '-b', 'branch')
  write('a/committed.ts')
  git('rm', '-q', 'gone.ts')
  commit()
  write('a/new file.ts')
  write('old.ts', 'changed')
  expect(changedFiles(folder)).toEqual(['a/committed.ts', 'a/new file.ts', 'old.ts'])
})

it('leaves out files that changed only on main', () => {
  const { folder, git, write, commit } = repository()
  git('checkout', '-q', '-b', 'branch')
  write('own.ts')
  commit()
  git('checkout', '-q', 'main')
  write('later.ts', 'changed')
  commit()
  git('checkout', '-q', 'branch')
  expect(changedFiles(folder)).toEqual(['own.ts'])
})

it('finds uncommitted files in a repository without main', () => {
  const { folder, git, write } = repository()
  git('branch', '-m', 'other')
  write('new.ts')
  expect(changedFiles(folder)).toEqual(['new.ts'])
})

it('selects the unit tests among files, and those beside them', () => {
  const files = [
    'media/edge/pool.ts',
    'media/edge/pool.test.ts',
    'react/src/view.tsx',
    'docs/index.md',
    'test/support/digest.ts',
    'test/support/hearing.ts',
    'test/scenarios/xml.test.ts',
  ]
  const absent = 'test/support/digest.test.ts'
  expect(testsOf(files, (path) => path !== absent)).toEqual([
    'media/edge/pool.test.ts',
    'react/src/view.test.ts',
    'test/support/hearing.test.ts',
  ])
})
