/** How many tests of a run passed, failed and were left out. */
export interface Counts {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

/** The parts of vitest's JSON report that are counted. */
interface Report {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    /** Why the file could not be loaded. */
    readonly message?: string
    readonly assertionResults: readonly {
      readonly status: string
      readonly fullName?: string
      readonly failureMessages?: readonly string[]
    }[]
  }[]
}

/** What a process that died has left unfinished. */
export interface Unfinished {
  readonly files: readonly string[]
  /** Tests of them that had passed before. */
  readonly passed: number
}

/** Files of which no test failed, and which were not finished all the same: their process died. None where anything else went wrong too. */
export const unfinishedIn = (read: () => string): Unfinished => {
  const none = { files: [], passed: 0 }
  let report: Report
  try {
    report = JSON.parse(read())
  } catch {
    return none
  }
  const failed = report.testResults.filter(({ status }) => status === 'failed')
  const died = failed.filter(({ assertionResults }) =>
    assertionResults.some(({ status }) => status === 'pending'),
  )
  if (report.numFailedTests > 0 || died.length < failed.length) return none
  const passed = died.flatMap(({ assertionResults }) =>
    assertionResults.filter(({ status }) => status === 'passed'),
  )
  return { files: died.map(({ name }) => name), passed: passed.length }
}

/**
 * Counts a run. A file that could not be loaded has no tests and counts as one failure; so does a run that failed although no test of it
 * did (an unhandled error), and one that left no report.
 */
export const countsOf = (read: () => string, ok: boolean): Counts => {
  let report: Report
  try {
    report = JSON.parse(read())
  } catch {
    return { passed: 0, failed: 1, skipped: 0 }
  }
  const unloaded = report.testResults.filter(
    ({ status, assertionResults }) => status === 'failed' && assertionResults.length === 0,
  )
  const failed = report.numFailedTests + unloaded.length
  return {
    passed: report.numPassedTests,
    failed: ok ? failed : Math.max(1, failed),
    skipped: report.numPendingTests + report.numTodoTests,
  }
}

/** Lines of a failure's message that are told again. */
const toldLines = 6

const told = (message: string): string =>
  message
    .split('\n')
    .slice(0, toldLines)
    .map((line) => `    ${line}`)
    .join('\n')

/** What failed in a run: for each test, or file that could not be loaded, its place and name, and the first lines of why. */
export const failuresIn = (read: () => string): string[] => {
  let report: Report
  try {
    report = JSON.parse(read())
  } catch {
    return []
  }
  return report.testResults.flatMap(({ name, status, message = '', assertionResults }) => {
    if (status === 'failed' && assertionResults.length === 0) return [`${name}\n${told(message)}`]
    const failed = assertionResults.filter((test) => test.status === 'failed')
    return failed.map(
      ({ fullName, failureMessages = [] }) => `${name}: ${fullName}\n${told(failureMessages.join('\n'))}`,
    )
  })
}
