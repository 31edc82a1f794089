import { checkExpectations } from '../calls/check-expectations.ts'
import type { TestedCall } from '../calls/tested-call.ts'
import type { AgentTestResult } from '../run-agent-test.ts'
import type { Expectations, Scenario } from '../scenario/scenario.ts'
import { summarize } from '../scores/summary.ts'
import { answeredCall, syntheticRecording } from './answered-call.ts'

/** Result of a test with one synthetic call, or with these calls. */
export const testResult = (
  expected: Partial<Expectations> = {},
  calls: readonly TestedCall[] = [answeredCall()],
): AgentTestResult => {
  const scenario: Scenario = {
    name: 'Tables & <chairs>',
    target: { kind: 'document', file: '/agents/"table".yaml' },
    voice: 'awb',
    silenceDb: -55,
    functions: new Map(),
    steps: [],
    expect: { calls: [], says: [], saysNever: [], ...expected },
  }
  const checks = checkExpectations(calls, scenario.expect)
  return {
    scenario,
    startedAt: new Date('2026-01-02T03:04:05Z'),
    checks,
    hasPassed: checks.every(({ hasPassed }) => hasPassed),
    summary: summarize(calls.flatMap(({ answered }) => answered?.scores ?? [])),
    calls,
    shown: { call: calls[0]!, sound: syntheticRecording() },
    log: [],
  }
}
