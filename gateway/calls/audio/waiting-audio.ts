import type { CallControl } from '../../../handlers/verbs.ts'
import { CallEnded } from '../../../handlers/verbs.ts'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Call } from '../call/call.ts'
import type { ScopableControl } from '../call/scopable-control.ts'
import { holdMusic, type Player } from './player.ts'

/** Collaborators of {@link playWhileWaiting}. */
export interface WaitingAudioDeps {
  readonly player: Pick<Player, 'start'>
  readonly clock: Clock
  readonly log: Log
}

/** Document for a waiting caller. Resolves with `leave` to end the wait. */
export type WaitHook = (call: CallControl) => Promise<unknown>

/** Minimum time between runs of a hook, in ms: an empty document must not be fetched without pause. */
const minHookMs = 1000

/**
 * Plays to a waiting caller until `over` fires: the hook, repeatedly, or hold music without a hook or after
 * its failure. Resolves when all audio has stopped, with `leave` if the hook has resolved with it. Never
 * rejects.
 */
export const playWhileWaiting = async (
  deps: WaitingAudioDeps,
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
      const startedAt = deps.clock.now()
      if ((await hook(held)) === 'leave') return 'leave'
      const rest = startedAt + minHookMs - deps.clock.now()
      if (rest > 0) await held.sleep(rest)
    }
  } catch (error) {
    if (either.aborted || error instanceof CallEnded) return undefined
    deps.log.warn(
      { event: 'waiting.document-failed', reason: String(error) },
      'document of a waiting caller failed',
    )
  }
  await music(deps, call, either)
  return undefined
}

const music = async ({ player, log }: WaitingAudioDeps, call: Call, over: AbortSignal): Promise<void> => {
  const { port } = call.caller
  if (over.aborted || !port) return
  const playing = player.start(port, [holdMusic], { loop: 0 })
  const { promise, resolve } = Promise.withResolvers<void>()
  over.addEventListener('abort', () => resolve(), { once: true })
  playing.done.catch((error) =>
    log.warn({ event: 'waiting.music-failed', reason: String(error) }, 'hold music failed'),
  )
  await promise
  playing.stop()
}
