import type { ConferenceOptions, ConferenceParticipant, ConferenceResult } from '../../../handlers/verbs.ts'
import { CallEnded } from '../../../handlers/verbs.ts'
import type { MediaPort } from '../../../media/types.ts'
import { playWhileWaiting, type WaitHook, type WaitingAudioDeps } from '../audio/waiting-audio.ts'
import type { Call } from '../call/call.ts'
import type { ScopableControl } from '../call/scopable-control.ts'
import type { Conference, LeaveKind } from './conference.ts'
import type { Participant, ParticipantChange } from './open-conferences.ts'

/** Setting of the beeps after a change of the beep on exit. */
const beeps = {
  both: { on: 'both', off: 'enter' },
  enter: { on: 'both', off: 'enter' },
  exit: { on: 'exit', off: 'none' },
  none: { on: 'exit', off: 'none' },
} as const

/** Call that takes part, with its verbs and options. */
export interface CallParticipantOptions {
  readonly call: Call
  readonly control: ScopableControl
  readonly options: ConferenceOptions
}

/** Participation of one call in a conference. */
export class CallParticipant implements Participant {
  readonly call: Call
  readonly joinedAt: number
  #options: ConferenceOptions
  /** Audio during the wait for the start; aborted when it changes. */
  #waiting: AbortController | undefined
  #waitingAudio: Promise<unknown> = Promise.resolve()
  readonly #control: ScopableControl
  readonly #deps: WaitingAudioDeps
  readonly #conference: Conference
  /** Aborted when the wait for the start is over. */
  readonly #begun = new AbortController()
  readonly #over = Promise.withResolvers<LeaveKind>()
  #port: MediaPort | undefined
  #muted: boolean
  /** Hold of the participation; the hold of the call is that of its leg. */
  #held = false
  /** Audio during a hold; aborted at its end. */
  #holdAudio: AbortController | undefined
  /** Aborted when it leaves. */
  readonly #gone = new AbortController()

  constructor(
    deps: WaitingAudioDeps,
    conference: Conference,
    { call, control, options }: CallParticipantOptions,
  ) {
    this.#deps = deps
    this.#conference = conference
    this.call = call
    this.#control = control
    this.#options = options
    this.joinedAt = deps.clock.now()
    this.#muted = options.muted ?? false
    this.#port = call.caller.port
  }

  get options(): ConferenceOptions {
    return this.#options
  }

  get callId(): string {
    return this.call.id
  }

  get port(): MediaPort | undefined {
    return this.#port
  }

  get isMuted(): boolean {
    return this.#muted
  }

  get isHeld(): boolean {
    return this.#held || this.call.caller.isHeld
  }

  /** Takes part until it leaves, is removed, or the conference ends. */
  async run(): Promise<ConferenceResult> {
    const { call } = this
    const options = this.#options
    const conference = this.#conference
    const startedAt = this.#deps.clock.now()
    call.listen({
      digit: () => {},
      held: () => conference.changed(this),
      replaced: () => this.#replaced(),
    })
    conference.join(this)
    if (options.wait !== 'none') this.#playWhileWaiting(options.wait)
    try {
      options.onJoined?.(this.#seat())
      const kind = await call.whileUp(this.#over.promise, options.signal)
      return this.#result(kind, startedAt)
    } catch (error) {
      if (error instanceof CallEnded) return this.#result('left', startedAt)
      throw error
    } finally {
      this.#begun.abort()
      this.#holdAudio?.abort()
      this.#gone.abort()
      call.listen(undefined)
      conference.leave(this)
      await this.#waitingAudio
    }
  }

  /** Reports the start of the conference. */
  started(): void {
    this.#begun.abort()
  }

  /** Ends the participation. */
  end(how: LeaveKind): void {
    this.#over.resolve(how)
  }

  /** Plays audio during the wait for the start, after the former audio has ended. */
  #playWhileWaiting(hook: WaitHook | undefined): void {
    if (this.#conference.isStarted) return
    this.#waiting?.abort()
    const waiting = new AbortController()
    this.#waiting = waiting
    const who = { call: this.call, control: this.#control, ...(hook && { hook }) }
    const over = AbortSignal.any([this.#begun.signal, waiting.signal])
    this.#waitingAudio = this.#waitingAudio.then(() => playWhileWaiting(this.#deps, who, over))
  }

  #seat(): ConferenceParticipant {
    const { id: conferenceId, name } = this.#conference.facts
    return {
      conferenceId,
      name,
      mute: (muted) => this.mute(muted),
      hold: (held) => this.hold(held),
      leave: () => this.end('left'),
    }
  }

  // A handler may use the participant after the call has left.
  mute(muted: boolean): void {
    if (muted === this.#muted || !this.#conference.has(this)) return
    this.#muted = muted
    this.#conference.changed(this)
    this.#conference.tell(muted ? 'mute' : 'unmute', this)
  }

  hold(held: boolean, hears?: WaitHook): void {
    if (held === this.#held || !this.#conference.has(this)) return
    this.#held = held
    this.#holdAudio?.abort()
    this.#conference.changed(this)
    if (held) {
      this.#holdAudio = new AbortController()
      const { call } = this
      const who = { call, control: this.#control, ...(hears && { hook: hears }) }
      void playWhileWaiting(this.#deps, who, this.#holdAudio.signal)
    }
    this.#conference.tell(held ? 'hold' : 'unhold', this)
  }

  change({ beepOnExit, endOnExit, coach, wait }: ParticipantChange): void {
    if (!this.#conference.has(this)) return
    const { coach: coached, beep = 'both', ...rest } = this.#options
    const pupil = coach === undefined ? coached : (coach ?? undefined)
    this.#options = {
      ...rest,
      beep: beepOnExit === undefined ? beep : beeps[beep][beepOnExit ? 'on' : 'off'],
      ...(endOnExit !== undefined && { endOnExit }),
      ...(pupil !== undefined && { coach: pupil }),
    }
    if (wait) this.#playWhileWaiting(wait)
    this.#conference.changed(this)
  }

  announce(hears: WaitHook): void {
    if (!this.#conference.has(this)) return
    hears(this.#control.scoped(this.#gone.signal)).catch((error) => {
      if (!(error instanceof CallEnded))
        this.#deps.log.warn(
          { event: 'conference.announcement-failed', call: this.callId, reason: String(error) },
          'announcement failed',
        )
    })
  }

  remove(): void {
    this.end('removed')
  }

  /** Handles another caller's leg of the call. */
  #replaced(): void {
    const before = this.#port
    this.#port = this.call.caller.port
    this.#conference.changed(this, before)
  }

  #result(kind: LeaveKind, startedAt: number): ConferenceResult {
    const { id: conferenceId } = this.#conference.facts
    return { kind, conferenceId, durationMs: this.#deps.clock.now() - startedAt }
  }
}
