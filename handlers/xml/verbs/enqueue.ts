import { maxNameLength } from '../../common/conferences.ts'
import { type Fields, seconds } from '../../common/forms.ts'
import { CallRedirected, type QueueOptions, type QueuePosition, type QueueResult } from '../../verbs.ts'
import { codes } from '../faults.ts'
import type { VerbContext, VerbKind } from '../verb.ts'
import { continueWith } from '../verb.ts'
import { readWait, type WaitTreatment, waitAttributes, waitRounds } from '../wait-treatment.ts'

/** Duration of one round of silence, in milliseconds. */
const silenceMs = 60_000

/**
 * Verb `Enqueue`: places the caller in a queue until another call takes the caller. The action receives the
 * result, also after the caller has hung up.
 */
export const enqueue: VerbKind = {
  name: 'Enqueue',
  attributes: ['action', 'method', ...waitAttributes],
  read: (reader) => {
    const action = reader.action()
    const wait = readWait(reader)
    const name = reader.content()
    if (name === '' || name.length > maxNameLength) {
      const message = `Enqueue needs a name of at most ${maxNameLength} characters; it has no effect.`
      reader.warning(codes.schema, message)
      return undefined
    }
    return async (context) => {
      const options = { name, ...(wait && { wait: waitFor(context, wait) }) }
      const result = await context.warnIfFailed(context.call.enterQueue(options))
      if (!result) return continueWith(action, { QueueResult: 'system-error' })
      const redirected = context.call.signal.reason instanceof CallRedirected
      return continueWith(action, { ...resultFields(result), ...(redirected && redirection(result)) })
    }
  },
}

const waitFor = (context: VerbContext, wait: WaitTreatment): NonNullable<QueueOptions['wait']> => {
  if (wait !== 'silence') {
    const round = waitRounds(context, wait)
    return (waiting, place) => round(waiting, placeFields(place()))
  }
  return async (waiting) => {
    await waiting.sleep(silenceMs)
    return undefined
  }
}

const placeFields = ({ queueId, position, size, waitedMs, averageWaitMs }: QueuePosition): Fields => ({
  QueuePosition: String(position),
  QueueSid: queueId,
  QueueTime: seconds(waitedMs),
  AvgQueueTime: seconds(averageWaitMs),
  CurrentQueueSize: String(size),
})

/** Results in the vocabulary of the family, in which a timeout counts as leaving. */
const results = {
  bridged: 'bridged',
  left: 'leave',
  timeout: 'leave',
  full: 'queue-full',
  hangup: 'hangup',
} as const

/** Result for a caller who was redirected to another document. */
const redirection = ({ kind }: QueueResult): Fields => ({
  QueueResult: kind === 'bridged' ? 'redirected-from-bridged' : 'redirected',
})

const resultFields = ({ kind, queueId, waitedMs }: QueueResult): Fields => ({
  QueueResult: results[kind],
  QueueSid: queueId,
  QueueTime: seconds(waitedMs),
})
