import type { AgentTestResult } from '../run-agent-test.ts'
import { targetText } from './score-rows.ts'

/** Returns the report for a program, as indented JSON. Times are ms from the answer of the call. */
export const jsonReport = (result: AgentTestResult): string => {
  const { scenario, startedAt, hasPassed, checks, summary, calls } = result
  const report = {
    version: 1,
    scenario: scenario.name,
    target: targetText(scenario.target),
    startedAt: startedAt.toISOString(),
    passed: hasPassed,
    expectations: checks.map(({ name, hasPassed: passed, failures }) => ({ name, passed, failures })),
    scores: summary,
    calls: calls.map(({ number, problems, answered }) => ({
      number,
      answered: answered !== undefined,
      problems,
      ...answered,
    })),
  }
  return `${JSON.stringify(report, null, 2)}\n`
}
