import type { SteadyClock } from '../../core/clock.ts'
import { CallLine } from '../line/call-line.ts'
import type { AnsweredCall, CallerPhones } from '../line/caller-phones.ts'
import { CallRefused } from '../line/outgoing-call.ts'
import type { Scenario, Speech } from '../scenario/scenario.ts'
import { scoreCall } from '../scores/call-scores.ts'
import type { CallWebhooks, FunctionServer, ServedCall } from '../target/function-server.ts'
import type { Seat } from '../target/open-target.ts'
import type { FunctionCall, ReportFacts } from './call-report.ts'
import { transcriptOf } from './call-transcript.ts'
import { type Performance, perform } from './perform.ts'
import type { CallEnd, CallSound, TestedCall } from './tested-call.ts'
import { waitForReport } from './wait-for-report.ts'

/** Longest call, in ms. */
const maxCallMs = 10 * 60_000

/** Collaborators of the calls of a test. */
export interface CallDeps {
  readonly clock: SteadyClock
  readonly phones: CallerPhones
  readonly server?: FunctionServer
  readonly samplesOf: (speech: Speech) => Int16Array
  /** Ends the waits for reports when the test is stopped. */
  readonly signal: AbortSignal
}

/** Runs one call of a scenario. Resolves with its result and its sound, which is empty without an answer. */
export const runCall = async (
  scenario: Scenario,
  seat: Seat,
  number: number,
  deps: CallDeps,
): Promise<{ readonly call: TestedCall; readonly sound: CallSound }> => {
  const { phones, server } = deps
  const from = scenario.from ?? `agent-test-${number}`
  const key = seat.key ?? from
  const line = await CallLine.open({
    address: phones.address,
    silenceDb: scenario.silenceDb,
    seed: number,
    clock: deps.clock,
  })
  const webhooks = server?.begin(key, from)
  try {
    const answered = await phones.call(seat, { from, mediaPort: line.port })
    return await talk(scenario, { number, line, answered, webhooks, seat }, deps)
  } catch (error) {
    if (!(error instanceof CallRefused)) throw error
    const problems = [`The call ${error.message}.`]
    return { call: { number, problems }, sound: { caller: new Int16Array(0), agent: new Int16Array(0) } }
  } finally {
    line.end()
    server?.end(key)
  }
}

/** One answered call. */
interface Talk {
  readonly number: number
  readonly line: CallLine
  readonly answered: AnsweredCall
  readonly webhooks: CallWebhooks | undefined
  readonly seat: Seat
}

const talk = async (scenario: Scenario, { number, line, answered, webhooks, seat }: Talk, deps: CallDeps) => {
  const { clock, samplesOf, signal } = deps
  const beganAt = clock.uptime()
  let endedBy: CallEnd = 'caller'
  const end = (by: CallEnd): void => {
    if (line.isEnded) return
    endedBy = by
    line.end()
  }
  void answered.ended.then(() => end('agent'))
  const limit = clock.after(maxCallMs, () => end('limit'))
  line.start(answered.audio)
  let done: Performance
  try {
    done = await perform(scenario.steps, {
      line,
      samplesOf,
      ...(seat.prompt && { prompt: seat.prompt }),
    })
  } finally {
    limit.cancel()
    end('caller')
    await answered.hangUp()
  }
  const report = webhooks && (await waitForReport(webhooks, { callMs: line.ms, clock, signal }))
  const recording = line.recording()
  const { caller, agent, echoes, received, lost, lateMs } = recording
  const scores = scoreCall({ caller, agent, echoes, sounds: done.sounds }, scenario.silenceDb)
  const call: TestedCall = {
    number,
    problems: done.problems,
    answered: {
      endedBy,
      scores,
      transcript: transcriptOf(done.sounds, scores.agentSpans, report?.spoken ?? []),
      functions: functionsOf(report, webhooks?.served ?? [], beganAt),
      hasReport: report !== undefined,
      ...(report?.summary !== undefined && { summary: report.summary }),
      packets: { received, lost },
      lateMs: Math.round(lateMs),
    },
  }
  return { call, sound: { caller, agent } }
}

/** Returns the calls of functions: those of the report, or those that the test's server has answered. */
const functionsOf = (
  report: ReportFacts | undefined,
  served: readonly ServedCall[],
  beganAt: number,
): readonly FunctionCall[] =>
  report?.functions ??
  served.map(({ name, args, result, at }) => ({ name, args, result, atMs: Math.round(at - beganAt) }))
