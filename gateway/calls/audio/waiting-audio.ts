import type { CallControl } from '../../../handlers/verbs.ts'
import { CallEnded } from '../../../handlers/verbs.ts'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { Call } from '../call/call.ts'
import type { ScopableControl } from '../call/scopable-control.ts'
import { holdMusic, type Player } from './player.ts'

/** Document for a waiting caller. Resolves with `leave` to end the wait. */
export type WaitHook = (call: CallControl) => Promise<unknown>

/** Minimum time between runs of a hook, in ms: an empty document must not be fetched without pause. */
const minHookMs = 1000

/** Caller who waits, and the document that runs meanwhile. */
export interface WaitingCaller {
  readonly call: Call
  readonly control: ScopableControl
  /** Runs repeatedly during the wait; default hold music. */
  readonly hook?: WaitHook
}

/** Audio for callers who wait in a conference or in a queue. */
export class WaitingAudio {
  readonly #player: Pick<Player, 'start'>
  readonly #clock: Clock
  readonly #log: Log

  constructor(player: Pick<Player, 'start'>, clock: Clock, log: Log) {
    this.#player = player
    this.#clock = clock
    this.#log = log
  }

  /**
   * Plays to a caller until `over` fires: the hook, repeatedly, or hold music without a hook or after its
   * failure. Resolves when all audio has stopped, with `leave` if the hook has resolved with it. Never
   * rejects.
   */
  async play({ call, control, hook }: WaitingCaller, over: AbortSignal): Promise<'leave' | undefined> {
    const either = AbortSignal.any([over, call.signal])
    try {
      const scoped = control.scoped(over)
      while (hook && !either.aborted) {
        const startedAt = this.#clock.now()
        if ((await hook(scoped)) === 'leave') return 'leave'
        const rest = startedAt + minHookMs - this.#clock.now()
        if (rest > 0) await scoped.sleep(rest)
      }
    } catch (error) {
      if (either.aborted || error instanceof CallEnded) return undefined
      this.#log.warn(
        { event: 'waiting.document-failed', reason: String(error) },
        'document of a waiting caller failed',
      )
    }
    await this.#playMusic(call, either)
    return undefined
  }

  async #playMusic(call: Call, over: AbortSignal): Promise<void> {
    const { port } = call.caller
    if (over.aborted || !port) return
    const playing = this.#player.start(port, [holdMusic], { loop: 0 })
    const { promise, resolve } = Promise.withResolvers<void>()
    over.addEventListener('abort', () => resolve(), { once: true })
    playing.done.catch((error) =>
      this.#log.warn({ event: 'waiting.music-failed', reason: String(error) }, 'hold music failed'),
    )
    await promise
    playing.stop()
  }
}
