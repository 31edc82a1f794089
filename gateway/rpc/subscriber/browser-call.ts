import { randomUUID } from 'node:crypto'
import type { AgentTranscriptEvent, UserVariables } from '../../../handlers/verbs.ts'
import type { BrowserMedia, Volumes } from '../../../media/types.ts'
import { BrowserMediaWatch, causeOfLoss, type LostState } from '../../calls/leg/browser-media-watch.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import type { PlayState } from '../../calls/leg/leg-signalling.ts'
import type { RoomProfile, RoomSeat } from '../../calls/leg/room-seat.ts'
import { isTooLarge } from '../../calls/leg/transcript-events.ts'
import type { SteadyClock } from '../../core/clock.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { CallId } from '../../model.ts'
import {
  agentEvent,
  callPlay,
  callProgress,
  callState,
  userEvent,
  type WireCall,
  type WireCallState,
  type WireProgress,
} from './browser-events.ts'
import type { BrowserSession } from './browser-session.ts'
import { byeOf } from './bye-causes.ts'
import type { CallParties, CallParty } from './call-parties.ts'
import type { ShownNames } from './displayed-party.ts'
import { MemberEvents } from './member-events.ts'
import { OfferRepetition } from './offer-repetition.ts'
import type { BrowserRoom, OpenBrowserRoom } from './rooms/browser-room.ts'
import { grantedProfile, grantedState } from './rooms/granted-profile.ts'

/** Maximum time that the first audio waits for the browser's media to connect, in milliseconds. */
const maxMediaWaitMs = 5_000

/** Facts of a {@link BrowserCall}. */
export interface BrowserCallOptions {
  readonly browser: BrowserSession
  /** Id of the call in the browser. */
  readonly callId: string
  /** Id of the gateway's call, which the browser calls its room session. */
  readonly roomId: CallId
  readonly leg: Leg
  readonly media: BrowserMedia
  /** Names that the browser sees in place of the parties' own; default none. */
  readonly names?: ShownNames
  /** Whether the gateway's SDP was already sent to the browser; default false. */
  readonly isDescribed?: boolean
  /** Whether the browser has dialled the audio channel of an address; default false. */
  readonly isAudioChannel?: boolean
  /** Whether the browser is a member of a room already, over another connection; default false. */
  readonly isRenewal?: boolean
  /** Variables that other members of the call see; default none. */
  readonly meta?: UserVariables | undefined
}

/** Collaborators of a {@link BrowserCall}. */
export interface BrowserCallDeps {
  readonly parties: CallParties
  /** Opens the events of the rooms that the browser becomes a member of. */
  readonly openRoom: OpenBrowserRoom
  readonly clock: SteadyClock
  readonly log: Log
}

/** Further source of a browser during its call: a shared screen, or a second camera or microphone. */
export interface CallSource {
  readonly type: 'screen' | 'device'
  /** Ends the source because the call ended or another screen replaces it. */
  end(cause: Cause): void
}

/** Call of one browser with its media: sends its events and carries out its requests. */
export class BrowserCall {
  readonly callId: string
  readonly leg: Leg
  readonly media: BrowserMedia
  readonly offers = new OfferRepetition()
  /** Whether another call of the browser is being joined with this call (attended transfer). */
  isJoining = false
  /** Events about the members of the call. */
  readonly members: MemberEvents
  readonly #options: BrowserCallOptions
  readonly #openRoom: OpenBrowserRoom
  readonly #clock: SteadyClock
  readonly #log: Log
  readonly #wire: WireCall
  #times = { start: 0, answer: 0, end: 0 }
  readonly #watch: BrowserMediaWatch
  readonly #sources = new Set<CallSource>()
  #room: BrowserRoom | undefined
  #isSilent = false
  #volumes: Volumes = { inDb: 0, outDb: 0 }
  /** Whether the gateway's SDP was sent or is being made. */
  #isDescribed = false
  /**
   * Present while the offer of a page that has reconnected is being answered. `isOwed`: the page does not
   * know that the call is answered.
   */
  #reattaching: { readonly isOwed: boolean } | undefined

  constructor(options: BrowserCallOptions, { parties, openRoom, clock, log }: BrowserCallDeps) {
    const { browser, callId, roomId, leg, media, names = new Map() } = options
    this.#options = options
    this.#openRoom = openRoom
    this.#clock = clock
    this.#log = log
    this.#wire = { callId, nodeId: browser.nodeId, roomId, leg }
    this.callId = callId
    this.leg = leg
    this.media = media
    this.members = new MemberEvents({
      browser,
      wire: this.#wire,
      party: parties.join(leg, callId, browser.identity, options.meta),
      parties,
      names,
      video: media.video,
      onAudioChange: () => {
        this.#applyDeafness()
        this.#setVolumes()
      },
    })
    this.#times.start = clock.now()
    this.#isDescribed = options.isDescribed === true
    const onLost = (state: LostState) => {
      log.info({ event: 'browser.media-lost', leg: leg.id, state }, 'media of a browser lost')
      const cause = causeOfLoss(state, 'client_lost')
      if (state === 'crashed') leg.end(cause)
      else leg.ended(cause)
    }
    const begins = this.#isDescribed ? 'now' : 'later'
    this.#watch = new BrowserMediaWatch(media, clock, onLost, { askOffer: () => this.#askOffer(), begins })
  }

  get browser(): BrowserSession {
    return this.#options.browser
  }

  /** Id of the gateway's call, which the browser calls its room session. */
  get roomId(): CallId {
    return this.#options.roomId
  }

  /** The browser as a member. */
  get party(): CallParty {
    return this.members.party
  }

  /** Whether the browser holds the call. */
  get isHeld(): boolean {
    return this.leg.isHeldByMessage
  }

  /** Room that the browser is a member of; undefined outside a room. */
  get room(): BrowserRoom | undefined {
    return this.#room
  }

  /** Returns the facts that other members of a room see of the browser. */
  profile(): RoomProfile {
    const { identity } = this.browser
    const { displayName: name, id, subscriber, room } = identity
    return {
      // The SDK tells a room that a call is moved into by another id than that of the call.
      callId: this.members.hasJoined ? randomUUID() : this.callId,
      name,
      subscriberId: identity.kind === 'subscriber' ? id : null,
      addressId: subscriber?.addressId ?? null,
      meta: this.#options.meta ?? {},
      ...(this.#options.isRenewal && { isRenewal: true }),
      state: { ...this.party.member.state, ...(room && grantedState(room)) },
      ...(room && grantedProfile(room, this.browser.accessTokenId, this.#clock.now())),
    }
  }

  /** Handles that the browser has become a member of a room, or has left it. */
  entered(seat: RoomSeat | undefined): void {
    this.#endSources()
    if (this.#room) this.#leftRoom(this.#room)
    if (!seat) return
    const { browser, callId, media } = this
    const isRenewal = this.#options.isRenewal === true
    this.#room = this.#openRoom({ browser, callId, seat, video: media.video, isRenewal })
    this.members.setInRoom(true)
    this.#applyDeafness()
    this.#showVideo(seat)
    // The holder of a room token has no other call than that of the room.
    if (this.members.hasJoined || (browser.identity.room && this.leg.isAnswered)) this.#room.joined()
  }

  /** Sets the leg that the browser is connected to, if any. */
  paired(partner: Leg | undefined): void {
    this.members.paired(partner)
    // A call that began in a room has not been reported as a call of two parties before.
    const isReported = this.#room !== undefined || this.members.hasJoined
    if (partner && this.leg.isAnswered && !isReported && !this.browser.identity.room) this.members.joined()
  }

  /** Adds a further source, which ends with the call. A screen ends a former one. */
  addSource(source: CallSource): void {
    const former = [...this.#sources].find(({ type }) => type === 'screen' && source.type === 'screen')
    this.#sources.add(source)
    former?.end({ code: 'normal' })
  }

  /** Removes a source that ended. */
  removeSource(source: CallSource): void {
    this.#sources.delete(source)
  }

  /** Sends a state of the call. */
  reportState(state: WireCallState): void {
    if (state === 'answered') this.#times.answer ||= this.#clock.now()
    if (state === 'ended') this.#times.end = this.#clock.now()
    this.#emit('call.state', callState(this.#wire, state, this.#times))
  }

  /** Resolves when the media is connected, or after a timeout. */
  untilConnected(): Promise<void> {
    return this.#watch.untilConnected(maxMediaWaitMs)
  }

  verto(method: string, params: object = {}): void {
    this.#options.browser.sendVerto(method, { callID: this.callId, ...params })
  }

  /** Sends the gateway's SDP once, so that the browser hears early media. */
  sendDescription(): void {
    if (this.#isDescribed) return
    this.#isDescribed = true
    this.verto('verto.media', { sdp: this.media.sdp })
    this.#watch.begin()
  }

  /** Reports the answer, with the gateway's SDP if the browser has none. */
  reportAnswer(): void {
    // A page that is reattaching receives the answer afterwards.
    if (this.#reattaching) return
    this.verto('verto.answer', this.#isDescribed ? {} : { sdp: this.media.sdp })
    this.#isDescribed = true
    this.#watch.begin()
    this.reportState('answered')
    this.#joined()
  }

  /** Reports the progress of a transfer, or of the addition of a person. `status`: SIP status. */
  reportProgress(kind: 'transfer' | 'add', state: WireProgress, status: number): void {
    if (!this.leg.isEnded) this.#emit(`call.${kind}`, callProgress(this.#wire, kind, state, status))
  }

  /** Reports the playback of a handler. */
  reportPlayback(id: string, state: PlayState): void {
    this.#emit('call.play', callPlay(this.#wire, id, state))
  }

  /** Sends an event that the handler defines. */
  userEvent(event: Readonly<Record<string, unknown>>): void {
    this.#emit('user_event', userEvent(this.#wire, event))
  }

  /**
   * Sends an event of a voice agent's transcript, without the functions that the model calls. A page that is
   * away or slow gets no partial words: the turn that follows them has all.
   */
  transcript(event: AgentTranscriptEvent): void {
    const { type, params } = event
    if (type === 'partial_result' && this.#options.browser.isBusy) return
    // The arguments of functions are not for the caller.
    if (type === 'function_call' || isTooLarge(event)) return
    this.#emit(`ai.${type}`, agentEvent(this.#wire, params))
  }

  /** Answers a new offer for the same call. */
  async renegotiate(offer: string): Promise<string> {
    const answer = await this.media.renegotiate(offer)
    this.#watch.renewed()
    return answer
  }

  /**
   * Answers by an event the offer of a page that has reconnected. `isReloaded`: whether the page was loaded
   * again, and no longer has its further sources. Rejects if the offer fails. The call then goes on with its
   * former media, but ends if the page does not know that it is answered.
   */
  async reattach(offer: string, isReloaded: boolean): Promise<void> {
    if (isReloaded) this.#endSources()
    this.offers.forget()
    // The former SDP must not reach a reloaded page, or a page that is loaded meanwhile.
    this.#isDescribed = true
    const isOwed = isReloaded || !this.leg.isAnswered || this.#reattaching?.isOwed === true
    const current = { isOwed }
    this.#reattaching = current
    try {
      const sdp = await this.renegotiate(offer)
      if (!this.leg.isEnded && this.#reattaching === current) this.#reattached(sdp, isOwed)
    } catch (error) {
      if (isOwed && this.#reattaching === current)
        this.leg.ended({ code: 'client_lost', detail: 'reattach of a page failed' })
      throw error
    } finally {
      if (this.#reattaching === current) this.#reattaching = undefined
    }
  }

  #reattached(sdp: string, isOwed: boolean): void {
    const { isAnswered } = this.leg
    this.verto(isAnswered ? 'verto.answer' : 'verto.media', { sdp })
    if (!isOwed || !isAnswered) return
    this.reportState('answered')
    this.#joined()
  }

  /** Asks the page for a new offer. Returns false before the answer: the page cannot make one then. */
  #askOffer(): boolean {
    if (!this.leg.isAnswered) return false
    this.browser.askOffer(this.callId)
    return true
  }

  /** Closes the media, and reports the end to the browser unless the browser ended the call itself. */
  close(cause: Cause, isEndedByBrowser: boolean): void {
    this.#watch.close()
    this.#endSources()
    // The replacement of the leg is the success of an attended transfer. The bye must follow, because it ends
    // the call in the browser.
    if (this.isJoining && cause.code === 'answered_elsewhere')
      this.#emit('call.transfer', callProgress(this.#wire, 'transfer', 'completed', 200))
    if (!isEndedByBrowser) this.verto('verto.bye', byeOf(cause))
    this.reportState('ended')
    this.#room?.left(byeOf(cause).cause)
    this.members.left(byeOf(cause).cause)
    this.#options.browser.calls.delete(this.callId)
    void this.media.close()
  }

  #endSources(): void {
    for (const source of [...this.#sources]) source.end({ code: 'normal' })
  }

  /** Reports that the browser has joined its call: the room that it has dialed, or a call of two parties. */
  #joined(): void {
    const isOfParties = this.#room?.member.callId !== this.callId && !this.browser.identity.room
    if (isOfParties) this.members.joined()
    this.#room?.joined()
  }

  /**
   * Shows the browser's video to a room, and the room's picture to the browser. In the audio channel, the
   * browser must send video first: early versions of the SDK ask for video in every call.
   */
  #showVideo(seat: RoomSeat): void {
    const { video } = this.media
    if (!this.#options.isAudioChannel || video.isSending) {
      seat.showVideo(video)
      return
    }
    const stop = video.onChange(() => {
      if (!video.isSending) return
      stop()
      seat.showVideo(video)
    })
  }

  #leftRoom(room: BrowserRoom): void {
    room.restoreCamera()
    room.left('normal')
    this.#room = undefined
    if (this.leg.isEnded) return
    this.party.member.set(room.member.state)
    this.#applyDeafness()
    this.#setVolumes()
    this.members.setInRoom(false)
  }

  /**
   * Stops the audio to the browser if the browser is deaf, or its partner is a telephone that the gateway
   * must mute.
   */
  #applyDeafness(): void {
    const { party, partner } = this.members
    const isPartnerMuted = partner !== undefined && !partner.events && partner.member.state.audio_muted
    // The mixer of a room makes its members deaf.
    const isSilent = !this.#room && (party.member.state.deaf || isPartnerMuted)
    if (isSilent === this.#isSilent || this.leg.isEnded) return
    this.#isSilent = isSilent
    void this.#setDeaf(isSilent)
  }

  /** Applies the input and output volume. */
  #setVolumes(): void {
    const { input_volume: inDb, output_volume: outDb } = this.party.member.state
    if (inDb === this.#volumes.inDb && outDb === this.#volumes.outDb) return
    this.#volumes = { inDb, outDb }
    this.media.port.setVolumes(this.#volumes)
  }

  async #setDeaf(isSilent: boolean): Promise<void> {
    try {
      await this.media.setDeaf(isSilent)
    } catch (error) {
      this.#log.warn(
        { event: 'browser.audio-switch-failed', leg: this.leg.id, err: error, silent: isSilent },
        'audio to a browser not switched on or off',
      )
    }
  }

  #emit(type: string, params: unknown): void {
    this.#options.browser.emit(type, params)
  }
}
