import { runAgentTest } from '../agent-test/run-agent-test.ts'
import { readScenario } from '../agent-test/scenario/read-scenario.ts'
import type { Scenario } from '../agent-test/scenario/scenario.ts'
import { type PreparedTarget, prepareTarget } from '../agent-test/target/open-target.ts'
import { type Clock, SystemClock } from '../core/clock.ts'
import { ScriptError } from '../stand-ins/read-script.ts'
import { checkFiles, type ReportOptions, reportResult } from './agent-test-reports.ts'
import { invalid } from './with-config.ts'

/** Options of {@link runAgentTestCommand}. */
export interface AgentTestOptions extends ReportOptions {
  readonly callers: number
  readonly repeat: number
}

/**
 * `trunkline agent-test`: calls the agent of a scenario file, prints the report and writes its files. Returns
 * the exit code: 1 if an expectation is not met, 2 if a file is invalid. After SIGINT or SIGTERM, it is 128
 * and the number of the signal. Throws ConfigInvalid, and an Error of Node if a report cannot be written.
 */
export const runAgentTestCommand = async (file: string, options: AgentTestOptions): Promise<number> => {
  const { callers, repeat } = options
  const scenario = readScenario(file)
  const problem = countProblem(scenario, callers)
  if (problem !== undefined) return rejected(problem)
  let target: PreparedTarget
  try {
    target = prepareTarget(scenario)
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error
    return rejected(error.message)
  }
  checkFiles(options)
  const clock = new SystemClock()
  const ending = new SignalEnd(clock)
  const count = callers * repeat
  let ended = 0
  const onCall = (): void => {
    ended++
    if (process.stderr.isTTY && count > 1) process.stderr.write(`\r${ended} of ${count} calls`)
  }
  try {
    const { signal } = ending
    const result = await runAgentTest(scenario, target, { callers, repeat }, { clock, onCall, signal })
    if (process.stderr.isTTY && count > 1) process.stderr.write('\r\u001b[K')
    reportResult(result, options)
    return result.hasPassed ? 0 : 1
  } catch (error) {
    if (ending.exitCode === undefined) throw error
    return ending.exitCode
  }
}

/** Longest end after a signal, in ms: the calls have 3 s to be hung up. */
const maxEndMs = 4000

/**
 * Ends the test at SIGINT and SIGTERM in such a way that no call is left at the far side. A second signal
 * ends the process at once, together with the gateway of the test.
 */
class SignalEnd {
  readonly #stop = new AbortController()
  /** Exit code of the process after a signal. */
  exitCode: number | undefined

  constructor(clock: Clock) {
    for (const [name, code] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const)
      process.on(name, () => {
        if (this.exitCode !== undefined) process.exit(code)
        this.exitCode = code
        clock.after(maxEndMs, () => process.exit(code))
        this.#stop.abort(new Error(`The test was ended by ${name}.`))
      })
  }

  /** Aborted at the first signal. */
  get signal(): AbortSignal {
    return this.#stop.signal
  }
}

const rejected = (message: string): number => {
  process.stderr.write(`trunkline: ${message}\n`)
  return invalid
}

/** Returns a sentence if the requests of several callers at once look alike. */
const countProblem = ({ target, from, server }: Scenario, callers: number): string | undefined => {
  if (callers === 1 || target.kind === 'document') return undefined
  if (from !== undefined && server)
    return 'With `from`, the functions of several callers look alike: leave it out, or use one caller.'
  return target.standIns === undefined
    ? undefined
    : 'Stand-ins of another process understand the words of one caller only: use one caller.'
}
