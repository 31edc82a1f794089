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
  readonly testResults: readonly { readonly status: string; readonly assertionResults: readonly unknown[] }[]
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
