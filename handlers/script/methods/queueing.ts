import { maxNameLength } from '../../common/conferences.ts'
import type { QueueOptions, QueuePosition, QueueResult } from '../../verbs.ts'
import { CallEnded } from '../../verbs.ts'
import type { Method, Outcome, ScriptContext } from '../method.ts'
import { number, statusUrl, text } from '../schema-builders.ts'
import { soundFault } from '../value-check.ts'
import { badValue, type Values } from '../values.ts'

const words: Readonly<Record<QueueResult['kind'], string>> = {
  bridged: 'connected',
  left: 'leaving',
  timeout: 'timeout',
  full: 'failed',
  hangup: 'hangup',
}

/**
 * Returns the listener that sends the caller's queue events to `status_url`; `…_ts` is the time of the event.
 */
const queueListener = (values: Values, script: ScriptContext): QueueOptions['onEvent'] => {
  const url = values.url('status_url')
  if (url === undefined) return undefined
  const send = script.events.sender(url, 'calling.call.queue')
  return (status: string, place: QueuePosition) =>
    send({
      status,
      id: place.queueId,
      name: place.name,
      position: place.position,
      size: place.size,
      avg_time: place.averageWaitMs / 1000,
      [`${status}_ts`]: script.context.now() / 1000,
    })
}

const enterQueue = async (values: Values, script: ScriptContext): Promise<Outcome> => {
  const name = values.needed('queue_name')
  if (name.length > maxNameLength)
    throw badValue('queue_name', `must have at most ${maxNameLength} characters`)
  const after = values.needed('transfer_after_bridge')
  const sounds = values.has('wait_url') ? values.sounds('wait_url') : undefined
  const maxWaitMs = values.seconds('wait_time') ?? 3_600_000
  const onEvent = queueListener(values, script)
  script.variables.assign({ queue_result: 'entering' })
  const result = await script.call.enterQueue({
    name,
    maxWaitMs,
    ...(sounds && { wait: async (call) => void (await call.play({ sounds })) as undefined }),
    ...(onEvent && { onEvent }),
  })
  script.variables.assign({
    queue_result: words[result.kind],
    wait_time: Math.round(result.waitedMs / 1000),
    entry_position: result.position,
    entry_size: result.size,
  })
  if (script.call.signal.aborted) throw new CallEnded()
  if (result.kind !== 'bridged') return undefined
  return { kind: 'transfer', to: await script.find(after, {}), params: {} }
}

/** Methods for queues. */
export const queueing: Readonly<Record<string, Method>> = {
  enter_queue: {
    description:
      'Places the caller in a queue until another call takes the caller. If none does, the next step ' +
      'follows.',
    properties: {
      queue_name: text('Name of the queue, 1 to 128 characters. The first caller creates the queue.'),
      transfer_after_bridge: text('Section, URL of a script, or script that follows after the bridge.'),
      wait_url: text('Sound that repeats while the caller waits; default hold music.'),
      wait_time: number('Maximum wait in seconds; default 3600.', [1, 86_400]),
      status_url: statusUrl('calling.call.queue'),
    },
    required: ['queue_name', 'transfer_after_bridge'],
    texts: { wait_url: soundFault },
    failed: { queue_result: 'failed' },
    run: enterQueue,
  },
}
