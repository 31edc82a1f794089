/**
 * `scripts/test` after its set-up: runs the checks and adds up their results.
 * The script has read the command line already. Arguments: a mode, then absolute paths.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { changedFiles, testsOf } from './changed.ts'
import { type Counts, countsOf, failuresIn, unfinishedIn } from './counts.ts'

const root = dirname(dirname(import.meta.dirname))
const reports = join(root, 'node_modules', '.cache', 'test-reports')
const projects = ['unit', 'scenarios', 'tones', 'audio'] as const

type Project = (typeof projects)[number]

/** Failures of all checks, for the end of the output, where thousands of lines do not hide them. */
const failures: string[] = []

const secondsSince = (start: number): string => ((performance.now() - start) / 1000).toFixed(0)

/** Runs a command with its output on the terminal. Returns whether it exited with 0. */
const succeeds = (title: string, command: string, ...args: string[]): boolean => {
  process.stdout.write(`\n== ${title}\n`)
  const start = performance.now()
  const { status } = spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
  process.stdout.write(`${title}: ${status === 0 ? 'ok' : 'FAILED'} in ${secondsSince(start)} s\n`)
  return status === 0
}

const none: Counts = { passed: 0, failed: 0, skipped: 0 }

/** Runs an npm script as one check. Its output appears at its end, so that two may run at the same time. */
const check = async (script: 'types' | 'lint'): Promise<Counts> => {
  const start = performance.now()
  const child = spawn('npm', ['run', '--silent', script], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  const output: Buffer[] = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk))
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve))
  process.stdout.write(`\n== ${script}\n${Buffer.concat(output).toString()}`)
  process.stdout.write(`${script}: ${status === 0 ? 'ok' : 'FAILED'} in ${secondsSince(start)} s\n`)
  if (status === 0) return { ...none, passed: 1 }
  failures.push(script)
  return { ...none, failed: 1 }
}

const vitest = (title: string, project: Project, report: string, files: readonly string[]): boolean =>
  succeeds(
    title,
    'vitest',
    'run',
    '--project',
    project,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...files,
  )

/** Returns the failures of a run; one that failed without a test or a file had an error outside of both. */
const listed = (project: Project, ok: boolean, found: string[]): string[] =>
  ok || found.length > 0 ? found : [`${project}: an error outside of tests; its text is in the output above`]

/**
 * Runs one of Vitest's projects, or some files of it, and counts the tests.
 * Files whose process died run once more, with a message, because processes have died for unknown reasons.
 */
const tests = (project: Project, files: readonly string[] = []): Counts => {
  const report = join(reports, `${project}.json`)
  const read = (from: string) => () => readFileSync(from, 'utf8')
  const ok = vitest(project, project, report, files)
  const first = countsOf(read(report), ok)
  const died = unfinishedIn(read(report))
  if (ok || died.files.length === 0) {
    failures.push(...listed(project, ok, failuresIn(read(report))))
    return first
  }
  process.stdout.write(`\nA TEST PROCESS DIED in ${died.files.join(', ')}; once more:\n`)
  const again = join(reports, `${project}-again.json`)
  const finished = vitest(`${project}, again`, project, again, died.files)
  const second = countsOf(read(again), finished)
  failures.push(...listed(project, finished, failuresIn(read(again))))
  return { ...second, passed: first.passed - died.passed + second.passed, skipped: first.skipped }
}

/** Vitest's filter for a path. A folder's filter ends with a slash, so that it matches no longer name. */
const filterOf = (path: string): string => (statSync(path).isDirectory() ? `${path}/` : path)

/** Runs the tests of files and folders, by project. A path without tests counts as a failure. */
const testsIn = (paths: readonly string[]): Counts[] => {
  const filters = paths.map(filterOf)
  const { stdout } = spawnSync('vitest', ['list', ...filters, '--filesOnly', '--json'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const found = JSON.parse(stdout || '[]') as readonly {
    readonly file: string
    readonly projectName: string
  }[]
  const without = filters.filter((filter) => !found.some(({ file }) => file.startsWith(filter)))
  failures.push(...without.map((path) => `${relative(root, path)}: no tests`))
  const parts = projects.flatMap((project) => {
    const files = found.filter(({ projectName }) => projectName === project).map(({ file }) => file)
    return files.length === 0 ? [] : [tests(project, files)]
  })
  return [...parts, { ...none, failed: without.length }]
}

/** Checks types and lint at the same time, then runs the unit tests of the files that differ from main. */
const fast = async (): Promise<Counts[]> => {
  const files = testsOf(changedFiles(root), (path) => existsSync(join(root, path)))
  const checks = await Promise.all([check('types'), check('lint')])
  if (files.length === 0) process.stdout.write('\nNo unit test differs from main.\n')
  return files.length === 0 ? checks : [...checks, tests('unit', files)]
}

/** Checks types and lint at the same time, then runs all tests. */
const everything = async (): Promise<Counts[]> => [
  ...(await Promise.all([check('types'), check('lint')])),
  ...projects.map((project) => tests(project)),
]

const [mode = 'all', ...paths] = process.argv.slice(2)
rmSync(reports, { recursive: true, force: true })
mkdirSync(reports, { recursive: true })

if (mode === 'watch') {
  const which = paths.length === 0 ? ['--project', 'unit'] : paths.map(filterOf)
  const { status } = spawnSync('vitest', ['watch', ...which], { cwd: root, stdio: 'inherit' })
  process.exit(status ?? 1)
}

const parts = mode === 'fast' ? await fast() : mode === 'paths' ? testsIn(paths) : await everything()
const sum = (key: keyof Counts): number => parts.reduce((total, part) => total + part[key], 0)
for (const failure of failures) process.stdout.write(`\nFAILED ${failure}\n`)
if (sum('skipped') > 0) process.stdout.write(`\n${sum('skipped')} skipped`)
process.stdout.write(`\n${sum('passed')} passed, ${sum('failed')} failed\n`)
process.exit(sum('failed') > 0 ? 1 : 0)
