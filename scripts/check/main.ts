/** `scripts/test`, after its set-up: runs the checks one after another and sums them up. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type Counts, countsOf, failuresIn, unfinishedIn } from './counts.ts'

const root = dirname(dirname(import.meta.dirname))
const reports = join(root, 'node_modules', '.cache', 'test-reports')

/** What failed, told again at the end, where it is not lost among thousands of lines. */
const failures: string[] = []

/** Runs a command with its output on the terminal; true when it ended with 0. */
const succeeds = (title: string, command: string, ...args: string[]): boolean => {
  process.stdout.write(`\n== ${title}\n`)
  const began = performance.now()
  const run = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  process.stdout.write(
    `${title}: ${run.status === 0 ? 'ok' : 'FAILED'} in ${((performance.now() - began) / 1000).toFixed(0)} s\n`,
  )
  return run.status === 0
}

/** A check that either holds or does not. */
const check = (title: string, command: string, ...args: string[]): Counts => {
  const ok = succeeds(title, command, ...args)
  if (!ok) failures.push(title)
  return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 }
}

const vitest = (title: string, project: string, file: string, ...files: string[]): boolean =>
  succeeds(
    title,
    'vitest',
    'run',
    '--project',
    project,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${file}`,
    ...files,
  )

/**
 * One of vitest's projects; each of its tests counts. A process of Node that died under a file (not a test that failed in it) costs that
 * file a second run, and is told: such a death was seen twice, and its cause is not known yet.
 */
const tests = (project: string): Counts => {
  const file = join(reports, `${project}.json`)
  const read = (from: string) => () => readFileSync(from, 'utf8')
  const ok = vitest(project, project, file)
  const first = countsOf(read(file), ok)
  const { files, passed } = unfinishedIn(read(file))
  if (ok || files.length === 0) {
    failures.push(...failuresIn(read(file)))
    return first
  }
  process.stdout.write(`\nA TEST PROCESS DIED in ${files.join(', ')}; once more:\n`)
  const again = join(reports, `${project}-again.json`)
  const finished = vitest(`${project}, again`, project, again, ...files)
  const second = countsOf(read(again), finished)
  failures.push(...failuresIn(read(again)))
  return { ...second, passed: first.passed - passed + second.passed, skipped: first.skipped }
}

rmSync(reports, { recursive: true, force: true })
mkdirSync(reports, { recursive: true })
const parts = [
  check('types', 'npm', 'run', '--silent', 'types'),
  check('lint', 'npm', 'run', '--silent', 'lint'),
  tests('unit'),
  tests('scenarios'),
  tests('tones'),
  tests('audio'),
]
const sum = (key: keyof Counts): number => parts.reduce((total, part) => total + part[key], 0)
for (const failure of failures) process.stdout.write(`\nFAILED ${failure}\n`)
if (sum('skipped') > 0) process.stdout.write(`\n${sum('skipped')} skipped`)
process.stdout.write(`\n${sum('passed')} passed, ${sum('failed')} failed\n`)
process.exit(sum('failed') > 0 ? 1 : 0)
