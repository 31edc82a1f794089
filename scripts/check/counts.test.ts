import { describe, expect, it } from 'vitest'
import { countsOf, failuresIn, unfinishedIn } from './counts.ts'

const report = (fields: object): (() => string) => {
  const none = { numPassedTests: 0, numFailedTests: 0, numPendingTests: 0, numTodoTests: 0, testResults: [] }
  return () => JSON.stringify({ ...none, ...fields })
}

describe('the count of a run', () => {
  it('equals the numbers of the report when no test fails', () => {
    expect(countsOf(report({ numPassedTests: 7, numPendingTests: 2, numTodoTests: 1 }), true)).toEqual({
      passed: 7,
      failed: 0,
      skipped: 3,
    })
  })

  it('counts a file that could not be loaded as a failure', () => {
    const testResults = [
      { status: 'failed', assertionResults: [] },
      { status: 'passed', assertionResults: [{}] },
    ]
    expect(countsOf(report({ numPassedTests: 1, testResults }), false).failed).toBe(1)
  })

  it('counts an error outside of tests as a failure', () => {
    expect(countsOf(report({ numPassedTests: 9 }), false)).toEqual({ passed: 9, failed: 1, skipped: 0 })
  })

  it('counts a missing report as a failure', () => {
    const missing = (): string => {
      throw new Error('ENOENT')
    }
    expect(countsOf(missing, true).failed).toBe(1)
  })
})

describe('the unfinished files of a process that died', () => {
  const died = {
    name: 'a.test.ts',
    status: 'failed',
    assertionResults: [{ status: 'passed' }, { status: 'pending' }],
  }

  it('are those with pending tests and without a failed one', () => {
    const done = { name: 'b.test.ts', status: 'passed', assertionResults: [{ status: 'pending' }] }
    expect(unfinishedIn(report({ testResults: [died, done] }))).toEqual({ files: ['a.test.ts'], passed: 1 })
  })

  it('are none if a test failed, a file could not be loaded, or the report is missing', () => {
    const unloaded = { name: 'c.test.ts', status: 'failed', assertionResults: [] }
    expect(unfinishedIn(report({ numFailedTests: 1, testResults: [died] })).files).toEqual([])
    expect(unfinishedIn(report({ testResults: [died, unloaded] })).files).toEqual([])
    expect(unfinishedIn(() => '').files).toEqual([])
  })
})

describe('the list of failures', () => {
  it('has each failed test with the first lines of its message, and each file that failed without one', () => {
    const message = 'expected 1 to be 2\n at a\n at b\n at c\n at d\n at e\n at f'
    const testResults = [
      { name: 'a.test.ts', status: 'passed', assertionResults: [{ status: 'passed', fullName: 'is well' }] },
      {
        name: 'b.test.ts',
        status: 'failed',
        assertionResults: [
          { status: 'failed', fullName: 'a sum is right', failureMessages: [message] },
          { status: 'passed', fullName: 'is well' },
        ],
      },
      { name: 'c.test.ts', status: 'failed', message: 'no such module', assertionResults: [] },
      {
        name: 'd.test.ts',
        status: 'failed',
        message: 'the hook failed',
        assertionResults: [{ status: 'passed' }],
      },
    ]
    expect(failuresIn(report({ testResults }))).toEqual([
      'b.test.ts: a sum is right\n    expected 1 to be 2\n     at a\n     at b\n     at c\n     at d\n     at e',
      'c.test.ts\n    no such module',
      'd.test.ts\n    the hook failed',
    ])
    expect(failuresIn(() => '')).toEqual([])
  })
})
