import type { CallControl } from '../../../handlers/verbs.ts'
import { CallEnded } from '../../../handlers/verbs.ts'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Call } from '../call/call.ts'
import { holdMusic, type Player } from '../verbs/player.ts'
import type { ScopableControl } from '../verbs/scopable-control.ts'

/** What keeping company works with. */
export interface WaitingAudioDeps {
  readonly player: Pick<Player, 'start'>
  readonly clock: Clock
  readonly log: Log
}

/** Run on somebody who waits; `leave`: wants to wait no longer. */
export type WaitHook = (call: CallControl) => Promise<unknown>

/** A hook that is over sooner is not run again before, in ms: a document that does nothing must not be fetched without end. */
const minHookMs = 1000

/**
 * Keeps a caller who waits company until `over` fires: by the hook, again and again, or by hold music, which also takes the place of a hook that
 * fails. Resolves once nothing of it is left, with `leave` where the hook said so. Never rejects.
 */
export const playWhileWaiting = async (
  parts: WaitingAudioDeps,
  {
    call,
    control,
    hook,
  }: { readonly call: Call; readonly control: ScopableControl; readonly hook?: WaitHook },
  over: AbortSignal,
): Promise<'leave' | undefined> => {
  const either = AbortSignal.any([over, call.signal])
  try {
    const held = control.scoped(over)
    while (hook && !either.aborted) {
      const startedAt = parts.clock.now()
      if ((await hook(held)) === 'leave') return 'leave'
      const rest = startedAt + minHookMs - parts.clock.now()
      if (rest > 0) await held.sleep(rest)
    }
  } catch (error) {
    if (either.aborted || error instanceof CallEnded) return undefined
    parts.log.warn({ reason: String(error) }, 'what a caller is to hear who waits failed')
  }
  await music(parts, call, either)
  return undefined
}

const music = async ({ player, log }: WaitingAudioDeps, call: Call, over: AbortSignal): Promise<void> => {
  const { port } = call.caller
  if (over.aborted || !port) return
  const playing = player.start(port, [holdMusic], { loop: 0 })
  const { promise, resolve } = Promise.withResolvers<void>()
  over.addEventListener('abort', () => resolve(), { once: true })
  playing.done.catch((error) => log.warn({ reason: String(error) }, 'hold music cannot be played'))
  await promise
  playing.stop()
}
