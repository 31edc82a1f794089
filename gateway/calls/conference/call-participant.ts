import type { ConferenceOptions, ConferenceParticipant, ConferenceResult } from '../../../handlers/verbs.ts'
import { CallEnded } from '../../../handlers/verbs.ts'
import type { MediaPort } from '../../../media/types.ts'
import type { Call } from '../call/call.ts'
import type { ScopableControl } from '../verbs/scopable-control.ts'
import type { Conference, LeaveKind } from './conference.ts'
import type { Participant, ParticipantChange } from './open-conferences.ts'
import { playWhileWaiting, type WaitHook, type WaitingAudioDeps } from './waiting-audio.ts'

/** What is left of a beep, with one at the exit and without. */
const beeps = {
  both: { on: 'both', off: 'enter' },
  enter: { on: 'both', off: 'enter' },
  exit: { on: 'exit', off: 'none' },
  none: { on: 'exit', off: 'none' },
} as const

/** Whose place it is. */
export interface CallParticipantOptions {
  readonly call: Call
  readonly control: ScopableControl
  readonly options: ConferenceOptions
}

/** One call's place in a conference, from its coming to its leaving. */
export class CallParticipant implements Participant {
  readonly call: Call
  readonly joinedAt: number
  #options: ConferenceOptions
  /** What it hears while it waits; fires when it hears something else. */
  #waiting: AbortController | undefined
  #company: Promise<unknown> = Promise.resolve()
  readonly #control: ScopableControl
  readonly #parts: WaitingAudioDeps
  readonly #conference: Conference
  /** The wait for the beginning is over. */
  readonly #begun = new AbortController()
  readonly #over = Promise.withResolvers<LeaveKind>()
  #port: MediaPort | undefined
  #muted: boolean
  /** By the seat; the call's own hold is that of its leg. */
  #held = false
  /** What it hears while it is held; fires when it goes on. */
  #hearing: AbortController | undefined
  /** It has left. */
  readonly #gone = new AbortController()

  constructor(
    parts: WaitingAudioDeps,
    conference: Conference,
    { call, control, options }: CallParticipantOptions,
  ) {
    this.#parts = parts
    this.#conference = conference
    this.call = call
    this.#control = control
    this.#options = options
    this.joinedAt = parts.clock.now()
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

  /** Stays until it leaves, is taken out, or the conference ends. */
  async run(): Promise<ConferenceResult> {
    const { call } = this
    const options = this.#options
    const conference = this.#conference
    const startedAt = this.#parts.clock.now()
    call.listen({
      digit: () => {},
      held: () => conference.changed(this),
      replaced: () => this.#replaced(),
    })
    conference.join(this)
    if (options.wait !== 'none') this.#keepCompany(options.wait)
    try {
      options.onJoined?.(this.#seat())
      const kind = await call.whileUp(this.#over.promise, options.signal)
      return this.#result(kind, startedAt)
    } catch (error) {
      if (error instanceof CallEnded) return this.#result('left', startedAt)
      throw error
    } finally {
      this.#begun.abort()
      this.#hearing?.abort()
      this.#gone.abort()
      call.listen(undefined)
      conference.leave(this)
      await this.#company
    }
  }

  /** Its conference has begun. */
  started(): void {
    this.#begun.abort()
  }

  /** It has to go. */
  end(how: LeaveKind): void {
    this.#over.resolve(how)
  }

  /** While it waits for the beginning; after what it has heard until now. */
  #keepCompany(hook: WaitHook | undefined): void {
    if (this.#conference.isStarted) return
    this.#waiting?.abort()
    const waiting = new AbortController()
    this.#waiting = waiting
    const who = { call: this.call, control: this.#control, ...(hook && { hook }) }
    const over = AbortSignal.any([this.#begun.signal, waiting.signal])
    this.#company = this.#company.then(() => playWhileWaiting(this.#parts, who, over))
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

  // Whoever has the seat may keep it, and the call has gone on to something else.
  mute(muted: boolean): void {
    if (muted === this.#muted || !this.#conference.has(this)) return
    this.#muted = muted
    this.#conference.changed(this)
    this.#conference.tell(muted ? 'mute' : 'unmute', this)
  }

  hold(held: boolean, hears?: WaitHook): void {
    if (held === this.#held || !this.#conference.has(this)) return
    this.#held = held
    this.#hearing?.abort()
    this.#conference.changed(this)
    if (held) {
      this.#hearing = new AbortController()
      const { call } = this
      const who = { call, control: this.#control, ...(hears && { hook: hears }) }
      void playWhileWaiting(this.#parts, who, this.#hearing.signal)
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
    if (wait) this.#keepCompany(wait)
    this.#conference.changed(this)
  }

  announce(hears: WaitHook): void {
    if (!this.#conference.has(this)) return
    hears(this.#control.scoped(this.#gone.signal)).catch((error) => {
      if (!(error instanceof CallEnded))
        this.#parts.log.warn({ call: this.callId, reason: String(error) }, 'an announcement failed')
    })
  }

  remove(): void {
    this.end('removed')
  }

  /** Another leg is the call's caller now. */
  #replaced(): void {
    const before = this.#port
    this.#port = this.call.caller.port
    this.#conference.changed(this, before)
  }

  #result(kind: LeaveKind, startedAt: number): ConferenceResult {
    const { id: conferenceId } = this.#conference.facts
    return { kind, conferenceId, durationMs: this.#parts.clock.now() - startedAt }
  }
}
