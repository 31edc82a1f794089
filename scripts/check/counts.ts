/** Numbers of tests of a run that passed, failed and were skipped. */
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
    /** Reason for which the file could not be loaded. */
    readonly message?: string
    readonly assertionResults: readonly {
      readonly status: string
      readonly fullName?: string
      readonly failureMessages?: readonly string[]
    }[]
  }[]
}

/** Work that a process left unfinished when it died. */
export interface Unfinished {
  readonly files: readonly string[]
  /** Tests of these files that had passed before. */
  readonly passed: number
}

/**
 * Returns the unfinished files of a run in which no test failed: their process died.
 * Returns no files if the run has any other failure.
 */
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
 * Counts the tests of a run. A file that could not be loaded has no tests and counts as one failure.
 * So does a run that left no report, and one that failed although none of its tests did (an unhandled error).
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

/** Number of lines of a failure's message that are repeated at the end. */
const maxMessageLines = 6

const excerpt = (message: string): string =>
  message
    .split('\n')
    .slice(0, maxMessageLines)
    .map((line) => `    ${line}`)
    .join('\n')

/**
 * Returns the failed tests, and the files that failed without one, with the first lines of the reason.
 * Such a file could not be loaded, or one of its hooks failed.
 */
export const failuresIn = (read: () => string): string[] => {
  let report: Report
  try {
    report = JSON.parse(read())
  } catch {
    return []
  }
  return report.testResults.flatMap(({ name, status, message = '', assertionResults }) => {
    const failed = assertionResults.filter((test) => test.status === 'failed')
    if (status === 'failed' && failed.length === 0) return [`${name}\n${excerpt(message)}`]
    return failed.map(
      ({ fullName, failureMessages = [] }) => `${name}: ${fullName}\n${excerpt(failureMessages.join('\n'))}`,
    )
  })
}
