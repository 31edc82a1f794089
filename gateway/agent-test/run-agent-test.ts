import type { SteadyClock } from '../core/clock.ts'
import { callAll } from './calls/call-all.ts'
import { type Check, checkExpectations } from './calls/check-expectations.ts'
import { runCall } from './calls/run-call.ts'
import type { CallSound, TestedCall } from './calls/tested-call.ts'
import { CallerPhones } from './line/caller-phones.ts'
import type { Scenario, Speech } from './scenario/scenario.ts'
import { type Summary, summarize } from './scores/summary.ts'
import { CallerVoice } from './sound/caller-voice.ts'
import type { PreparedTarget } from './target/open-target.ts'
import { wait } from './wait.ts'

/** Number of calls of a test. */
export interface CallCounts {
  /** Calls at once. */
  readonly callers: number
  /** Calls of each caller, one after the other. */
  readonly repeat: number
}

/** Result of a test. */
export interface AgentTestResult {
  readonly scenario: Scenario
  readonly startedAt: Date
  readonly checks: readonly Check[]
  readonly hasPassed: boolean
  readonly summary: Summary
  readonly calls: readonly TestedCall[]
  /** Call that the reports show: the first one with a problem, or the first one. */
  readonly shown: { readonly call: TestedCall; readonly sound: CallSound }
  /** Log of the test's own gateway, in JSON lines; empty for an agent at an address. */
  readonly log: readonly string[]
}

/** Collaborators of {@link runAgentTest}. */
export interface RunDeps {
  readonly clock: SteadyClock
  /** Called at the end of each call. */
  readonly onCall?: (call: TestedCall) => void
  /** Ends the test: its calls are hung up. */
  readonly signal?: AbortSignal
}

/** Interval between the begins of calls at once, in ms: callers do not all dial in the same instant. */
const spacingMs = 150

/**
 * Runs the calls of a scenario against its target. Rejects with a descriptive Error if the target cannot be
 * started, or a text cannot be spoken. Rejects with the reason of `signal` if it is aborted. All calls are
 * hung up before, for which the far sides have 3 s.
 */
export const runAgentTest = async (
  scenario: Scenario,
  target: PreparedTarget,
  counts: CallCounts,
  { clock, onCall = () => {}, signal = new AbortController().signal }: RunDeps,
): Promise<AgentTestResult> => {
  const startedAt = new Date(clock.now())
  const samples = await samplesOf(scenario)
  signal.throwIfAborted()
  const open = await target(counts.callers, clock)
  let phones: CallerPhones | undefined
  try {
    phones = await CallerPhones.open(open.seats[0]!, clock)
    const kept = new KeptCalls(scenario)
    const deps = { clock, phones, ...(open.server && { server: open.server }), samplesOf: samples }
    await callAll(open.seats, { phones, signal }, async (seat, index, stop) => {
      await wait(clock, index * spacingMs)
      for (let round = 0; round < counts.repeat && !stop.aborted; round++) {
        const number = round * counts.callers + index + 1
        const { call, sound } = await runCall(scenario, seat, number, { ...deps, signal: stop })
        if (stop.aborted) return
        kept.add(call, sound)
        onCall(call)
      }
    })
    return { scenario, startedAt, ...kept.result(), log: [...(open.log ?? [])] }
  } finally {
    await phones?.close()
    await open.close()
  }
}

/** Calls of a test that have ended. Of their sounds, only that of the shown call is kept. */
class KeptCalls {
  readonly #scenario: Scenario
  readonly #calls: TestedCall[] = []
  #shown: { call: TestedCall; sound: CallSound; hasPassed: boolean } | undefined

  constructor(scenario: Scenario) {
    this.#scenario = scenario
  }

  add(call: TestedCall, sound: CallSound): void {
    this.#calls.push(call)
    const hasPassed = checkExpectations([call], this.#scenario.expect).every((each) => each.hasPassed)
    const shown = this.#shown
    const isEarlier = shown !== undefined && call.number < shown.call.number
    if (!shown || (shown.hasPassed && !hasPassed) || (shown.hasPassed === hasPassed && isEarlier))
      this.#shown = { call, sound, hasPassed }
  }

  result(): Omit<AgentTestResult, 'scenario' | 'startedAt' | 'log'> {
    const calls = this.#calls.sort((a, b) => a.number - b.number)
    const checks = checkExpectations(calls, this.#scenario.expect)
    return {
      checks,
      hasPassed: checks.every((each) => each.hasPassed),
      summary: summarize(calls.flatMap(({ answered }) => answered?.scores ?? [])),
      calls,
      shown: this.#shown!,
    }
  }
}

/** Speaks all texts of a scenario ahead, so that no call waits for them. */
const samplesOf = async ({ steps, voice }: Scenario): Promise<(speech: Speech) => Int16Array> => {
  const speaker = new CallerVoice(voice)
  const known = new Map<Speech, Int16Array>()
  try {
    for (const step of steps) {
      if (step.kind !== 'say' && step.kind !== 'over' && step.kind !== 'interrupt') continue
      known.set(step.speech, await speaker.speech(step.speech))
    }
  } finally {
    await speaker.close()
  }
  return (speech) => known.get(speech) ?? new Int16Array(0)
}
