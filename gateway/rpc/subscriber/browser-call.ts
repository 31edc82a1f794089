import type { UserVariables } from '../../../handlers/verbs.ts'
import type { BrowserMedia, Volumes } from '../../../media/types.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import type { PlayState } from '../../calls/leg/leg-signalling.ts'
import { causeOfLoss, type LostState, MediaWatch } from '../../calls/leg/media-watch.ts'
import type { Clock } from '../../core/clock.ts'
import type { Cause } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import { callPlay, callState, userEvent, type WireCall, type WireCallState } from './browser-events.ts'
import type { BrowserSession } from './browser-session.ts'
import { byeOf } from './bye-causes.ts'
import type { CallParties, CallParty } from './call-parties.ts'
import { MemberEvents } from './member-events.ts'
import { OfferRepetition } from './offer-repetition.ts'

/** How long the first sound waits for a browser whose media is not up yet. */
const hearingWaitMs = 5_000

/** What a browser call is made from. */
export interface BrowserCallOptions {
  readonly browser: BrowserSession
  /** The id that the page knows. */
  readonly callId: string
  /** The gateway's call; the page's room session. */
  readonly roomId: string
  readonly leg: Leg
  readonly media: BrowserMedia
  readonly parties: CallParties
  /** Who had the page invited; absent where it dialled, and where nobody calls yet. */
  readonly caller?: Leg
  /** Whether no video is ever taken of the page, nor shown to it; default false. */
  readonly isAudioOnly?: boolean
  /** Whether the page has our description already; default false. */
  readonly isDescribed?: boolean
  /** Variables that the page shows to the others of its call; default none. */
  readonly meta?: UserVariables
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn'>
}

/** A screen that a page shares beside its call. */
export interface SharedScreen {
  /** The call is over, or the page shares another one. */
  end(cause: Cause): void
}

/** One page's call with its media: what the page is told of it, and what it can ask for. */
export class BrowserCall {
  readonly callId: string
  readonly leg: Leg
  readonly media: BrowserMedia
  readonly offers = new OfferRepetition()
  /** What the page is told of who takes part. */
  readonly members: MemberEvents
  #options: BrowserCallOptions
  #wire: WireCall
  #times = { start: 0, answer: 0, end: 0 }
  #watch: MediaWatch
  #screen: SharedScreen | undefined
  #silent = false
  #volumes: Volumes = { inDb: 0, outDb: 0 }
  /** The page has our description, or gets the one that is being made. */
  #described = false
  /** The offer that is being answered of a page that was loaded anew. */
  #anew: { readonly offer: string } | undefined

  constructor(options: BrowserCallOptions) {
    const { browser, callId, roomId, leg, media, parties, caller, clock } = options
    this.#options = options
    this.#wire = { callId, nodeId: browser.nodeId, roomId, leg }
    this.callId = callId
    this.leg = leg
    this.media = media
    this.members = new MemberEvents({
      browser,
      wire: this.#wire,
      party: parties.join(leg, callId, browser.identity, options.meta),
      parties,
      ...(caller && { caller }),
      video: media.video,
      isAudioOnly: options.isAudioOnly === true,
      onHearing: () => {
        this.#hear()
        this.#setVolumes()
      },
    })
    // The published SDK closes the camera where it finds its own video muted.
    if (options.isAudioOnly) this.party.member.set({ video_muted: true })
    this.#times.start = clock.now()
    this.#described = options.isDescribed === true
    const lost = (reportState: LostState) => {
      options.log.info({ leg: leg.id, state: reportState }, "the browser's media is lost")
      const cause = causeOfLoss(reportState, 'client_lost')
      if (reportState === 'crashed') leg.end(cause)
      else leg.ended(cause)
    }
    this.#watch = new MediaWatch(media, clock, lost, this.#described ? 'now' : 'later')
  }

  get browser(): BrowserSession {
    return this.#options.browser
  }

  /** The gateway's call; the page's room session. */
  get roomId(): string {
    return this.#options.roomId
  }

  /** The page itself, as a member. */
  get party(): CallParty {
    return this.members.party
  }

  /** Whether the page holds the call. */
  get isHeld(): boolean {
    return this.leg.isHeldByFarSide
  }

  /** Whether no video is ever taken of the page, nor shown to it. */
  get isAudioOnly(): boolean {
    return this.#options.isAudioOnly === true
  }

  /** The screen that the page shares. */
  get screen(): SharedScreen | undefined {
    return this.#screen
  }

  /** The page shares this screen from now on, and the one before no more; undefined: none. */
  share(screen: SharedScreen | undefined): void {
    const before = this.#screen
    this.#screen = screen
    if (before !== screen) before?.end({ code: 'normal' })
  }

  /** Tells the page a state. */
  state(state: WireCallState): void {
    if (state === 'answered') this.#times.answer ||= this.#options.clock.now()
    if (state === 'ended') this.#times.end = this.#options.clock.now()
    this.#emit('call.state', callState(this.#wire, state, this.#times))
  }

  /** Resolves when the page can hear us, or will not. */
  untilHeard(): Promise<void> {
    return this.#watch.untilConnected(hearingWaitMs)
  }

  verto(method: string, params: Readonly<Record<string, unknown>> = {}): void {
    this.#options.browser.sendVerto(method, { callID: this.callId, ...params })
  }

  /**
   * Gives the page our description, with which it hears what is played before the answer. It is given once.
   */
  sendDescription(): void {
    if (this.#described) return
    this.#described = true
    this.verto('verto.media', { sdp: this.media.sdp })
    this.#watch.begin()
  }

  /** Tells the page that its call is answered, with our description where it has none. */
  reportAnswer(): void {
    // A page that is on its way back is told when it is there.
    if (this.#anew) return
    this.verto('verto.answer', this.#described ? {} : { sdp: this.media.sdp })
    this.#described = true
    this.#watch.begin()
    this.state('answered')
    this.members.joined()
  }

  /** Tells the page that a handler plays something to it. */
  reportPlayback(id: string, state: PlayState): void {
    this.#emit('call.play', callPlay(this.#wire, id, state))
  }

  /** Tells the page something that a handler has made up. */
  userEvent(event: Readonly<Record<string, unknown>>): void {
    this.#emit('user_event', userEvent(this.#wire, event))
  }

  /** A new offer for the same call: its answer. */
  async renegotiate(offer: string): Promise<string> {
    const answer = await this.media.renegotiate(offer)
    this.#watch.renewed()
    return answer
  }

  /**
   * The page was loaded anew and makes another offer: its answer goes by an event. What it shared is gone.
   */
  async reattach(offer: string): Promise<void> {
    this.share(undefined)
    this.offers.forget()
    // What was made for the page before is not for this one, nor for one that is loaded while this is under
    // way.
    this.#described = true
    const anew = { offer }
    this.#anew = anew
    const sdp = await this.renegotiate(offer)
    if (this.leg.isEnded || this.#anew !== anew) return
    this.#anew = undefined
    if (!this.leg.isAnswered) {
      this.verto('verto.media', { sdp })
      return
    }
    this.verto('verto.answer', { sdp })
    this.state('answered')
    this.members.joined()
  }

  /** Tells the page that it is over (unless it said so itself), and gives up the media. */
  close(cause: Cause, endedByBrowser: boolean): void {
    this.#watch.close()
    this.share(undefined)
    if (!endedByBrowser) this.verto('verto.bye', byeOf(cause))
    this.state('ended')
    this.members.left(byeOf(cause).cause)
    this.#options.browser.calls.delete(this.callId)
    void this.media.close()
  }

  /** A page that is deaf is sent nothing, and a telephone cannot be muted but by that. */
  #hear(): void {
    const { party, partner } = this.members
    const muted = partner !== undefined && !partner.page && partner.member.state.audio_muted
    const silent = party.member.state.deaf || muted
    if (silent === this.#silent || this.leg.isEnded) return
    this.#silent = silent
    void this.#setDeaf(silent)
  }

  /** How loud the page is for the others, and they for it. */
  #setVolumes(): void {
    const { input_volume: inDb, output_volume: outDb } = this.party.member.state
    if (inDb === this.#volumes.inDb && outDb === this.#volumes.outDb) return
    this.#volumes = { inDb, outDb }
    this.media.port.setVolumes(this.#volumes)
  }

  async #setDeaf(silent: boolean): Promise<void> {
    try {
      await this.media.setDeaf(silent)
    } catch (error) {
      this.#options.log.warn(
        { leg: this.leg.id, err: error, silent },
        "the browser's sound cannot be switched",
      )
    }
  }

  #emit(type: string, params: unknown): void {
    this.#options.browser.emit(type, params)
  }
}
