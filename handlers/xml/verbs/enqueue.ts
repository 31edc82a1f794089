import { longestName } from '../../common/conferences.ts'
import { type Fields, seconds } from '../../common/forms.ts'
import { CallRedirected, type QueueOptions, type QueuePlace, type QueueResult } from '../../verbs.ts'
import { codes } from '../faults.ts'
import type { Stage, VerbKind } from '../verb.ts'
import { asked } from '../verb.ts'
import { readWait, roundsOf, type Waiting, waitAttributes } from '../waiting.ts'

/** A wait of silence, before the gateway asks what is next. */
const silenceMs = 60_000

/** `Enqueue`: the caller waits in a queue until somebody takes it. Its action is told how that ended, also when the caller has hung up. */
export const enqueue: VerbKind = {
  name: 'Enqueue',
  attributes: ['action', 'method', ...waitAttributes],
  read: (reader) => {
    const action = reader.action()
    const wait = readWait(reader)
    const name = reader.content()
    if (name === '' || name.length > longestName) {
      const message = `Enqueue needs a name of at most ${longestName} characters; it has no effect.`
      reader.warning(codes.schema, message)
      return undefined
    }
    return async (stage) => {
      const options = { name, ...(wait && { wait: waitFor(stage, wait) }) }
      const result = await stage.attempt(stage.call.enterQueue(options))
      if (!result) return asked(action, { QueueResult: 'system-error' })
      const redirected = stage.call.signal.reason instanceof CallRedirected
      return asked(action, { ...resultFields(result), ...(redirected && redirection(result)) })
    }
  },
}

const waitFor = (stage: Stage, wait: Waiting): NonNullable<QueueOptions['wait']> => {
  if (wait !== 'silence') {
    const round = roundsOf(stage, wait)
    return (waiting, place) => round(waiting, placeFields(place()))
  }
  return async (waiting) => {
    await waiting.sleep(silenceMs)
    return undefined
  }
}

const placeFields = ({ queueId, position, size, waitedMs, averageWaitMs }: QueuePlace): Fields => ({
  QueuePosition: String(position),
  QueueSid: queueId,
  QueueTime: seconds(waitedMs),
  AvgQueueTime: seconds(averageWaitMs),
  CurrentQueueSize: String(size),
})

/** A wait that was too long is one that the caller left. */
const results = {
  bridged: 'bridged',
  left: 'leave',
  timeout: 'leave',
  full: 'queue-full',
  hangup: 'hangup',
} as const

/** Another document has the caller now. */
const redirection = ({ kind }: QueueResult): Fields => ({
  QueueResult: kind === 'bridged' ? 'redirected-from-bridged' : 'redirected',
})

const resultFields = ({ kind, queueId, waitedMs }: QueueResult): Fields => ({
  QueueResult: results[kind],
  QueueSid: queueId,
  QueueTime: seconds(waitedMs),
})
