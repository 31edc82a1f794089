import {
  CallEnded,
  type ConferenceOptions,
  type ConferenceParticipant,
  type ConferenceResult,
} from '../../../handlers/verbs.ts'
import type { MediaPort } from '../../../media/types.ts'
import type { Clock } from '../../core/clock.ts'
import type { Log } from '../../core/log.ts'
import type { WaitHook, WaitingAudio } from '../audio/waiting-audio.ts'
import type { Call } from '../call/call.ts'
import type { ScopableControl } from '../call/scopable-control.ts'
import type { Conference, LeaveKind } from './conference.ts'
import type { ParticipantChange } from './open-conferences.ts'

/** New value of `beepOn` after the beep on exit was turned on or off. */
const beeps = {
  both: { on: 'both', off: 'enter' },
  enter: { on: 'both', off: 'enter' },
  exit: { on: 'exit', off: 'none' },
  none: { on: 'exit', off: 'none' },
} as const

/** Collaborators of a {@link CallParticipant}. */
export interface CallParticipantDeps {
  readonly waitingAudio: WaitingAudio
  readonly clock: Clock
  readonly log: Log
}

/** Call that takes part, with its verbs and options. */
export interface CallParticipantOptions {
  readonly call: Call
  readonly control: ScopableControl
  readonly options: ConferenceOptions
}

/** Participation of one call in a conference. */
export class CallParticipant {
  readonly call: Call
  /** ms since the epoch. */
  readonly joinedAt: number
  #options: ConferenceOptions
  /** Aborted when the audio during the wait for the start changes. */
  #waiting: AbortController | undefined
  /** Settles at the end of the audio during the wait for the start. */
  #waitingDone: Promise<unknown> = Promise.resolve()
  readonly #control: ScopableControl
  readonly #deps: CallParticipantDeps
  readonly #conference: Conference
  /** Aborted when the wait for the start is over. */
  readonly #started = new AbortController()
  readonly #ended = Promise.withResolvers<LeaveKind>()
  #port: MediaPort | undefined
  #isMuted: boolean
  /** Whether the participation is on hold. A hold of the call itself is separate. */
  #isOnHold = false
  /** Aborts the audio during a hold. */
  #holdAudio: AbortController | undefined
  /** Aborted when the participant leaves. */
  readonly #left = new AbortController()

  constructor(
    deps: CallParticipantDeps,
    conference: Conference,
    { call, control, options }: CallParticipantOptions,
  ) {
    this.#deps = deps
    this.#conference = conference
    this.call = call
    this.#control = control
    this.#options = options
    this.joinedAt = deps.clock.now()
    this.#isMuted = options.isMuted ?? false
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
    return this.#isMuted
  }

  get isHeld(): boolean {
    return this.#isOnHold || this.call.caller.isHeld
  }

  /** Takes part in the conference until the call leaves or is removed, or the conference ends. */
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
      options.onJoined?.(this.#forHandler())
      const kind = await call.whileUp(this.#ended.promise, options.signal)
      return this.#result(kind, startedAt)
    } catch (error) {
      if (error instanceof CallEnded) return this.#result('left', startedAt)
      throw error
    } finally {
      this.#started.abort()
      this.#holdAudio?.abort()
      this.#left.abort()
      call.listen(undefined)
      conference.leave(this)
      await this.#waitingDone
    }
  }

  /** Reports the start of the conference. */
  started(): void {
    this.#started.abort()
  }

  /** Ends the participation. */
  end(how: LeaveKind): void {
    this.#ended.resolve(how)
  }

  /** Plays audio during the wait for the start, once the previous audio has ended. */
  #playWhileWaiting(hook: WaitHook | undefined): void {
    if (this.#conference.isStarted) return
    this.#waiting?.abort()
    const waiting = new AbortController()
    this.#waiting = waiting
    const over = AbortSignal.any([this.#started.signal, waiting.signal])
    this.#waitingDone = this.#waitingDone.then(() => this.#play(hook, over))
  }

  #play(hook: WaitHook | undefined, over: AbortSignal): Promise<unknown> {
    const { call } = this
    return this.#deps.waitingAudio.play({ call, control: this.#control, ...(hook && { hook }) }, over)
  }

  /** Returns the participation for its handler. */
  #forHandler(): ConferenceParticipant {
    const { id: conferenceId, name } = this.#conference.facts
    return {
      conferenceId,
      name,
      mute: (isMuted) => this.mute(isMuted),
      hold: (isHeld) => this.hold(isHeld),
      leave: () => this.end('left'),
    }
  }

  // A handler may use the participant after the call has left.
  mute(isMuted: boolean): void {
    if (isMuted === this.#isMuted || !this.#conference.has(this)) return
    this.#isMuted = isMuted
    this.#conference.changed(this)
    this.#conference.report(isMuted ? 'mute' : 'unmute', this)
  }

  /**
   * Holds the participant if `isHeld`, otherwise resumes. `hook`: runs repeatedly during the hold, in place
   * of hold music.
   */
  hold(isHeld: boolean, hook?: WaitHook): void {
    if (isHeld === this.#isOnHold || !this.#conference.has(this)) return
    this.#isOnHold = isHeld
    this.#holdAudio?.abort()
    this.#conference.changed(this)
    if (isHeld) {
      this.#holdAudio = new AbortController()
      void this.#play(hook, this.#holdAudio.signal)
    }
    this.#conference.report(isHeld ? 'hold' : 'unhold', this)
  }

  change({ beepOnExit, endOnExit, coach, wait }: ParticipantChange): void {
    if (!this.#conference.has(this)) return
    const { coach: before, beepOn = 'both', ...rest } = this.#options
    const audibleTo = coach === undefined ? before : (coach ?? undefined)
    this.#options = {
      ...rest,
      beepOn: beepOnExit === undefined ? beepOn : beeps[beepOn][beepOnExit ? 'on' : 'off'],
      ...(endOnExit !== undefined && { endOnExit }),
      ...(audibleTo !== undefined && { coach: audibleTo }),
    }
    if (wait) this.#playWhileWaiting(wait)
    this.#conference.changed(this)
  }

  /**
   * Runs a document on the call beside the conference. Canceled when the participant leaves. A failure is
   * logged.
   */
  announce(hook: WaitHook): void {
    if (!this.#conference.has(this)) return
    hook(this.#control.scoped(this.#left.signal)).catch((error) => {
      if (!(error instanceof CallEnded))
        this.#deps.log.warn(
          { event: 'conference.announcement-failed', call: this.callId, reason: String(error) },
          'announcement failed',
        )
    })
  }

  /** Removes the participant from the conference. */
  remove(): void {
    this.end('removed')
  }

  /** Handles a change of the caller's leg. */
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
