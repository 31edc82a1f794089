import type { Page } from 'playwright-core'
import { aroundAll, beforeEach, type RunnerTestSuite } from 'vitest'

/** Lines of a peer's output so far, the oldest first. */
export type OutputLines = () => readonly string[]

/** Output of one peer of the running tests, under a name that is unique in the file. */
interface Output {
  readonly name: string
  readonly lines: OutputLines
}

/** Outputs of all peers of this test file, including ended ones. */
const outputs: Output[] = []

/** Limits of one output in a report. */
const maxLines = 120
const maxLineLength = 600
const maxLength = 12_000

/** Returns the last lines of an output within the limits, after a line with its name. */
export const excerptOf = (name: string, lines: readonly string[]): string => {
  const kept: string[] = []
  let length = 0
  for (const line of lines.slice(-maxLines).reverse()) {
    const cut = line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line
    length += cut.length + 1
    if (length > maxLength) break
    kept.unshift(cut)
  }
  const omitted = lines.length - kept.length
  return [`-- ${name}${omitted > 0 ? `, without its first ${omitted} lines` : ''}`, ...kept].join('\n')
}

/** Number of lines of each output so far, by the output's name. */
const counts = (): ReadonlyMap<string, number> =>
  new Map(outputs.map(({ name, lines }) => [name, lines().length]))

/** Prints the lines that each output got after the counts `before`, under a title with `during`. */
const print = (during: string, before: ReadonlyMap<string, number>): void => {
  const excerpts = outputs.flatMap(({ name, lines }) => {
    const added = lines().slice(before.get(name) ?? 0)
    return added.length === 0 ? [] : [excerptOf(name, added)]
  })
  if (excerpts.length > 0) console.error([`Output during “${during}”`, ...excerpts].join('\n'))
}

/** Returns the groups with failed hooks: this group, and those in it. */
const groupsWithFailedHooks = (group: Readonly<RunnerTestSuite>): Readonly<RunnerTestSuite>[] => [
  ...(group.result?.errors?.length ? [group] : []),
  ...group.tasks.flatMap((task) => (task.type === 'suite' ? groupsWithFailedHooks(task) : [])),
]

/**
 * Prints the output during a failed test. For a failed hook, prints the output between the tests before and
 * after it.
 */
const watch = () => {
  let afterLastTest: ReadonlyMap<string, number> = new Map()
  const printed = new Set<string>()
  const printFailedHooks = (file: Readonly<RunnerTestSuite>): void => {
    for (const { id, name } of groupsWithFailedHooks(file)) {
      if (!printed.has(id)) print(`the hooks of ${name}`, afterLastTest)
      printed.add(id)
    }
  }

  beforeEach(({ onTestFailed, onTestFinished, task }) => {
    printFailedHooks(task.file)
    const before = counts()
    // Vitest runs both after the hooks of the test: the peers that the test started have ended by then.
    onTestFinished(() => {
      afterLastTest = counts()
    })
    onTestFailed(() => print(task.name, before))
  })
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads fixture names from the pattern.
  aroundAll(async (runFile, {}, file) => {
    await runFile()
    printFailedHooks(file)
  })
}

// The benchmarks use the same peers outside of tests.
if (process.env.VITEST) watch()

/**
 * Adds a peer's output to the report of each test and hook that fails. Further peers of the same name get a
 * number.
 */
export const reportOnFailure = (name: string, lines: OutputLines): void => {
  const same = outputs.filter((output) => output.name.replace(/ #\d+$/, '') === name).length
  outputs.push({ name: same === 0 ? name : `${name} #${same + 1}`, lines })
}

/** Adds one message of a peer to its trace. */
export type TraceMessage = (direction: 'sent' | 'received', message: string | Buffer) => void

/** Adds the messages of a peer within the test process to the report of each test and hook that fails. */
export const traceOnFailure = (name: string): TraceMessage => {
  // The benchmarks run for long, and have no report.
  if (!process.env.VITEST) return () => {}
  const lines: string[] = []
  reportOnFailure(name, () => lines)
  return (direction, message) => {
    const text = message.toString().trimEnd()
    lines.push(
      `${direction} at ${new Date().toISOString()}:`,
      ...text.split(/\r?\n/).map((line) => `  ${line}`),
    )
  }
}

/**
 * Adds a page's console, its errors and its failed requests to the report of each test and hook that fails.
 */
export const reportPageOnFailure = (page: Page): void => {
  const lines: string[] = []
  page.on('console', (message) => lines.push(`${message.type()}: ${message.text()}`))
  page.on('pageerror', (error) => lines.push(`error: ${error.stack ?? error.message}`))
  page.on('crash', () => lines.push('the page crashed'))
  page.on('requestfailed', (request) =>
    lines.push(`${request.method()} ${request.url()} failed: ${request.failure()?.errorText}`),
  )
  page.on('response', (response) => {
    if (response.status() >= 400)
      lines.push(`${response.request().method()} ${response.url()} got ${response.status()}`)
  })
  reportOnFailure('page', () => lines)
}
