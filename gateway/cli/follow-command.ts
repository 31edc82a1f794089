import type { Clock } from '../core/clock.ts'
import { clockTime, duration, escapedText, partyOf } from '../core/readable-log.ts'
import type { CallChanges } from '../operator/operator.ts'
import { gatewayExit, requestGateway } from './gateway-request.ts'

/** Interval of the questions for changes, in ms. */
const pollMs = 1_000

/** Options of {@link followCalls}. */
export interface FollowOptions {
  readonly json: boolean
  readonly clock: Pick<Clock, 'after'>
  /** Ends the command. */
  readonly stopping: AbortSignal
}

/** One change of a call. */
interface CallEvent {
  readonly event: 'started' | 'answered' | 'ended'
  readonly at: string
  readonly call: string
  readonly from: string
  readonly to: string
  /** Code of the end. */
  readonly code?: string
  /** Seconds from the start to the end. */
  readonly seconds?: number
}

/**
 * `trunkline calls --follow`: prints a line when a call starts, is answered and ends, first for the calls in
 * progress. Returns 0 after `stopping`, and otherwise the exit code of a request that failed.
 */
export const followCalls = async (
  file: string,
  { json, clock, stopping }: FollowOptions,
): Promise<number> => {
  const seen = new SeenCalls()
  let last: number | undefined
  let wake = () => {}
  stopping.addEventListener('abort', () => wake())
  while (!stopping.aborted) {
    const request = { command: 'calls', ...(last !== undefined && { ended_after: last }) }
    const response = await requestGateway<CallChanges>(file, request)
    if (response.kind === 'failed') return response.exitCode
    last = response.body.last_ended
    for (const event of seen.eventsOf(response.body))
      process.stdout.write(`${json ? JSON.stringify(event) : lineOf(event)}\n`)
    if (stopping.aborted) break
    await new Promise<void>((next) => {
      const timer = clock.after(pollMs, next)
      wake = () => {
        timer.cancel()
        next()
      }
    })
  }
  return gatewayExit.done
}

/** Calls whose start was printed. Holds the calls in progress alone. */
class SeenCalls {
  #calls = new Map<string, { readonly isAnswered: boolean }>()

  /** Returns the events since the previous response, in the order of their times. */
  eventsOf({ calls, ended = [] }: CallChanges): readonly CallEvent[] {
    const present = new Map<string, { readonly isAnswered: boolean }>()
    const events: CallEvent[] = []
    for (const call of [...ended, ...calls]) {
      const { id, from, to, started_at: startedAt, answered_at: answeredAt } = call
      const facts = { call: id, from, to }
      const before = this.#calls.get(id)
      if (!before) events.push({ event: 'started', at: startedAt, ...facts })
      if (answeredAt !== null && !before?.isAnswered)
        events.push({ event: 'answered', at: answeredAt, ...facts })
      if (!('ended_at' in call)) present.set(id, { isAnswered: answeredAt !== null })
      else {
        const { ended_at: at, code } = call
        events.push({
          event: 'ended',
          at,
          ...facts,
          code,
          seconds: (Date.parse(at) - Date.parse(startedAt)) / 1_000,
        })
      }
    }
    this.#calls = present
    return events.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at))
  }
}

const lineOf = ({ event, at, call, from, to, code, seconds }: CallEvent): string =>
  [
    clockTime(Date.parse(at)),
    call.slice(0, 8),
    event.padEnd('answered'.length),
    escapedText(`${partyOf(from)} → ${partyOf(to)}`),
    ...(seconds === undefined ? [] : [duration(seconds * 1_000), String(code)]),
  ].join('  ')
