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

/** Tells `status_url` of the caller's place; `ts` is when that was. */
const queueListener = (values: Values, script: ScriptContext): QueueOptions['onEvent'] => {
  const told = values.url('status_url')
  if (told === undefined) return undefined
  const tell = script.events.sender({ url: told }, 'calling.call.queue')
  return (status: string, place: QueuePosition) =>
    tell({
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

/** Queues. */
export const queueing: Readonly<Record<string, Method>> = {
  enter_queue: {
    description:
      'Waits in a queue until somebody takes the caller; where nobody does, the next step has its turn.',
    properties: {
      queue_name: text('1 to 128 characters; the queue is made by the first who enters.'),
      transfer_after_bridge: text(
        'A section, the URL of a script or a script: goes on there when the two are parted.',
      ),
      wait_url: text('What the caller hears again and again: a sound; default hold music.'),
      wait_time: number('Longest wait in seconds; default 3600.', [1, 86_400]),
      status_url: statusUrl('calling.call.queue'),
    },
    required: ['queue_name', 'transfer_after_bridge'],
    texts: { wait_url: soundFault },
    failed: { queue_result: 'failed' },
    run: enterQueue,
  },
}
