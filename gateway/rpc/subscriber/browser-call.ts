import type { BrowserMedia } from '../../../media/types.ts'
import type { Leg } from '../../calls/leg.ts'
import type { Clock } from '../../clock.ts'
import type { Cause } from '../../errors.ts'
import type { Log } from '../../log.ts'
import { byeOf } from './causes.ts'
import type { Client } from './client.ts'
import { callJoined, callLeft, callState, memberUpdated, userEvent, type WireCallState } from './events.ts'
import { MediaWatch } from './media-watch.ts'
import { Member, type MemberState } from './member.ts'

/** How long the first sound waits for a browser whose media is not up yet. */
const hearingWaitMs = 5_000

/** What a browser call is made from. */
export interface BrowserCallOptions {
  readonly client: Client
  /** The id that the page knows. */
  readonly callId: string
  /** The gateway's call; the page's room session. */
  readonly roomId: string
  readonly leg: Leg
  readonly media: BrowserMedia
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn'>
}

/** One page's call with its media: what the page is told of it, and what it can ask for. */
export class BrowserCall {
  readonly callId: string
  readonly leg: Leg
  readonly media: BrowserMedia
  readonly member: Member
  locked = false
  #options: BrowserCallOptions
  #times = { start: 0, answer: 0, end: 0 }
  #joined = false
  #watch: MediaWatch

  constructor(options: BrowserCallOptions) {
    const { client, callId, roomId, leg, media, clock } = options
    this.#options = options
    this.callId = callId
    this.leg = leg
    this.media = media
    this.member = new Member({ callId, nodeId: client.nodeId, roomId }, client.holder)
    this.#times.start = clock.now()
    this.#watch = new MediaWatch(media, clock, (state) => {
      options.log.info({ leg: leg.id, state }, "the browser's media is lost")
      leg.ended({ code: 'client_lost', detail: `media ${state}` })
    })
  }

  /** Whether the page holds the call. */
  get held(): boolean {
    return this.leg.holds
  }

  /** Tells the page a state. */
  state(state: WireCallState): void {
    if (state === 'answered') this.#times.answer = this.#options.clock.now()
    if (state === 'ended') this.#times.end = this.#options.clock.now()
    this.#emit('call.state', callState(this.#wire, state, this.#times))
  }

  /** Tells the page that it is in the call; its `start()` resolves then. */
  joined(): void {
    this.#joined = true
    this.#emit('call.joined', callJoined(this.#wire, this.member, this.locked))
  }

  /** Resolves when the page can hear us, or will not. */
  untilHeard(): Promise<void> {
    return this.#watch.untilConnected(hearingWaitMs)
  }

  verto(method: string, params: Readonly<Record<string, unknown>> = {}): void {
    this.#options.client.verto(method, { callID: this.callId, ...params })
  }

  /** Changes the member and tells the page, whose SDK mutes its microphone by that. */
  change(changes: Partial<MemberState>): void {
    this.#emit('member.updated', memberUpdated(this.#wire, this.member, this.member.set(changes)))
  }

  /** Tells the page something that a handler has made up. */
  userEvent(event: Readonly<Record<string, unknown>>): void {
    this.#emit('user_event', userEvent(this.#wire, event))
  }

  /** A new offer for the same call: its answer. */
  renegotiate(offer: string): Promise<string> {
    return this.media.renegotiate(offer)
  }

  /** Tells the page that it is over (unless it said so itself), and gives up the media. */
  close(cause: Cause, saidByPage: boolean): void {
    this.#watch.close()
    if (!saidByPage) this.verto('verto.bye', byeOf(cause))
    this.state('ended')
    if (this.#joined) this.#emit('call.left', callLeft(this.#wire, this.member, byeOf(cause).cause))
    this.#options.client.calls.delete(this.callId)
    void this.media.close()
  }

  get #wire() {
    const { client, callId, roomId, leg } = this.#options
    return { callId, nodeId: client.nodeId, roomId, leg }
  }

  #emit(type: string, params: unknown): void {
    this.#options.client.emit(type, params)
  }
}
