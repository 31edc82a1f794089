import { describe, expect, it } from 'vitest'
import { countsOf } from './counts.ts'

const report = (fields: object): (() => string) => {
  const none = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] }
  return () => JSON.stringify({ ...none, ...fields })
}

describe('the count of a run', () => {
  it('is what the report says when all is well', () => {
    expect(countsOf(report({ numPassedTests: 7, numPendingTests: 2, numTodoTests: 1 }), true)).toEqual({
      passed: 7,
      failed: 0,
      skipped: 3,
    })
  })

  it('has a failure for a file that could not be loaded', () => {
    const testResults = [
      { status: 'failed', assertionResults: [] },
      { status: 'passed', assertionResults: [{}] },
    ]
    expect(countsOf(report({ numPassedTests: 1, testResults }), false).failed).toBe(1)
  })

  it('has a failure when the run failed outside its tests', () => {
    expect(countsOf(report({ numPassedTests: 9 }), false)).toEqual({ passed: 9, failed: 1, skipped: 0 })
  })

  it('has a failure when there is no report', () => {
    const missing = (): string => {
      throw new Error('ENOENT')
    }
    expect(countsOf(missing, true).failed).toBe(1)
  })
})
