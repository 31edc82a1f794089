import type { UserVariables } from '../../../handlers/verbs.ts'
import type { AudioCodec, BrowserMedia } from '../../../media/types.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import type { Clock, Timer } from '../../core/clock.ts'
import { type Cause, TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { CallId, Party } from '../../model.ts'
import type { DeviceCall } from '../../push/device-call.ts'
import type { Push } from '../../push/push.ts'
import type { RpcSession } from '../rpc-session.ts'
import type { BrowserCall } from './browser-call.ts'
import type { BrowserCallFactory } from './browser-call-factory.ts'
import { BrowserLeg } from './browser-leg.ts'
import type { BrowserSession, SessionCall } from './browser-session.ts'
import { byeOf, causeOf, rejectAllCode } from './bye-causes.ts'
import type { ShownNames } from './displayed-party.ts'
import { deviceEvent, inviteOf } from './invite-message.ts'
import { mediaCause } from './media-error.ts'
import type { ReadVariables } from './user-variables.ts'

/** Collaborators of a {@link BrowserOutboundLeg}. */
export interface BrowserOutboundLegDeps {
  readonly calls: BrowserCallFactory
  readonly push: Pick<Push, 'call'>
  readonly metrics: Pick<Metrics, 'rejections'>
  readonly clock: Clock
  readonly log: Log
}

/** Facts of a {@link BrowserOutboundLeg}. */
export interface BrowserOutboundLegOptions {
  /** Caller. */
  readonly from: Party
  /** Callee: the subscriber. */
  readonly to: Party
  readonly callId: CallId
  readonly subscriberId: string
  readonly codec: AudioCodec
  /** Whether video is offered. */
  readonly video: boolean
  /** Names that browsers see in place of the parties' own. */
  readonly names: ShownNames
  /** Variables that browsers receive with the invite. */
  readonly userVariables: UserVariables | undefined
}

/**
 * Faults of an answer that end the call only for the page that sent the answer. Other pages may still answer.
 */
const answerFaults: ReadonlySet<Cause['code']> = new Set(['bad_sdp', 'no_common_codec', 'bad_user_variables'])

/**
 * Maximum wait for pages to reconnect while none is connected and no device was notified, in milliseconds. It
 * is shorter than `maxDescriptionWaitMs`, after which a caller with the published SDK receives an SDP.
 */
const maxReconnectMs = 10_000

/**
 * Call to a subscriber: an outbound leg of the gateway. Every online browser gets the same offer under the
 * same id, and the first usable answer wins. If no page is connected, the devices of the subscriber are
 * notified. The leg rings until a page answers or the caller gives up.
 */
export class BrowserOutboundLeg extends BrowserLeg implements SessionCall {
  readonly leg: Leg
  readonly subscriberId: string
  /** Id of the call in browsers. */
  readonly wireId: string
  readonly #deps: BrowserOutboundLegDeps
  readonly #options: BrowserOutboundLegOptions
  #media: BrowserMedia | undefined
  /** Ringing sessions, with the connections over which they were invited. */
  #ringing = new Map<BrowserSession, RpcSession | undefined>()
  #declined = new WeakSet<BrowserSession>()
  /** Cause of the last decline. */
  #refusal: Cause | undefined
  /** Whether a person has declined on a page. */
  #isDeclined = false
  /** Session whose answer is being processed; it rings until then. */
  #answering: BrowserSession | undefined
  #answers: Promise<void> = Promise.resolve()
  #winner: BrowserSession | undefined
  /** Notified devices that may still open a page. */
  #devices: DeviceCall | undefined
  /** Runs while no page is connected. */
  #reconnectTimer: Timer | undefined
  #isEndedByBrowser = false
  #isOver = false

  constructor(deps: BrowserOutboundLegDeps, options: BrowserOutboundLegOptions) {
    super()
    this.#deps = deps
    this.#options = options
    this.subscriberId = options.subscriberId
    this.leg = deps.calls.newLeg('outbound', options.from, options.to)
    this.leg.attach(this)
    this.wireId = this.leg.id
  }

  /** Makes the offer and rings the browsers that are online. Never rejects: a failure ends the leg. */
  async start(online: () => readonly BrowserSession[]): Promise<void> {
    const { leg } = this
    const { callId, codec, video } = this.#options
    // A disconnected page may reconnect in time, but pages on mobile devices seldom do.
    const isConnected = online().some(({ session }) => session !== undefined)
    const devices = await this.#deps.push.call(this.subscriberId, isConnected)
    if (this.#isOver) return
    if (online().length === 0 && !devices) {
      leg.ended({ code: 'not_online' })
      return
    }
    try {
      this.#media = await this.#deps.calls.webrtc.offer(callId, codec, { video })
    } catch (error) {
      leg.ended(mediaCause(error))
      return
    }
    // From here on, the end of the leg closes the port, whether or not the call is answered.
    leg.setPort(this.#media.port, this.#media.video)
    if (this.#isOver) await this.#media.close()
    else this.#ringAll(online(), devices)
  }

  /** Whether a browser has answered. */
  get isAnswered(): boolean {
    return this.#winner !== undefined
  }

  /**
   * Rings a browser. Does nothing if the browser already rings or has declined, or the call has ended.
   * `anew`: invites a ringing browser again, because the page may have been reloaded.
   */
  invite(browser: BrowserSession, anew = false): void {
    if (!this.#media || this.#declined.has(browser)) return
    const unaware = anew && this.#ringing.has(browser) && this.#ringing.get(browser) !== browser.session
    if (unaware) this.#ringing.set(browser, browser.session)
    if (unaware || this.#attach(browser)) browser.sendVerto('verto.invite', this.#inviteOfPage(this.#media))
  }

  /** Attaches a page that was opened by a push notification, or tells it that the call has ended. */
  attach(browser: BrowserSession): void {
    if (this.#attach(browser) || this.#ringing.has(browser) || browser === this.#winner) return
    this.#dismiss(browser, { code: 'answered_elsewhere' })
  }

  browserCall(browser: BrowserSession): BrowserCall | undefined {
    return browser === this.#winner ? this.call : undefined
  }

  /** Processes an answer after earlier ones: a second answer is used if the first is unusable. */
  onAnswer(browser: BrowserSession, sdp: string, variables: ReadVariables): Promise<void> {
    const process = () => this.#processAnswer(browser, sdp, variables)
    this.#answers = this.#answers.then(process, process)
    return this.#answers
  }

  onBye(browser: BrowserSession, causeCode: number | undefined): void {
    const { leg } = this
    if (browser === this.#winner || browser === this.#answering) {
      this.#isEndedByBrowser = true
      leg.ended(causeOf(causeCode, 'normal'))
      return
    }
    if (!this.#leave(browser)) return
    this.#refusal = causeOf(causeCode, 'declined')
    this.#isDeclined = true
    if (causeCode === rejectAllCode) leg.ended(this.#refusal)
    else this.#endDeclined()
  }

  onDisconnected(): void {
    if (this.#isDeclined) this.#endDeclined()
    this.#awaitPages()
  }

  onDigits(browser: BrowserSession, digits: string): void {
    if (browser !== this.#winner) return
    for (const digit of digits) this.leg.digit(digit)
  }

  onSessionLost(browser: BrowserSession): void {
    const { leg } = this
    if (browser === this.#winner || browser === this.#answering) {
      this.#isEndedByBrowser = true
      leg.ended({ code: 'client_lost' })
    } else if (this.#ringing.delete(browser)) this.#endUnreachable()
  }

  // Signalling to the browsers. The gateway neither rings nor answers an outbound leg.

  ring(): void {}

  async progress(): Promise<void> {}

  async answer(): Promise<void> {}

  end(cause: Cause): void {
    this.#isOver = true
    this.#reconnectTimer?.cancel()
    for (const browser of this.#ringing.keys()) this.#dismiss(browser, cause)
    this.#ringing.clear()
    this.#cancel(cause)
    if (this.call) this.call.close(cause, this.#isEndedByBrowser)
    else void this.#media?.close()
  }

  #ringAll(browsers: readonly BrowserSession[], devices: DeviceCall | undefined): void {
    this.#devices = devices
    for (const browser of browsers) this.invite(browser)
    if (this.#ringing.size === 0 && !devices) this.leg.ended({ code: 'not_online' })
    else this.leg.early(false)
    this.#awaitPages()
    if (devices && !this.#isOver) void this.#wake(devices)
  }

  async #wake(devices: DeviceCall): Promise<void> {
    const invite = this.#invite(this.#media!)
    const isNotified = await devices.invite({
      callerName: invite.caller_id_name,
      callerId: invite.caller_id_number,
      // A media line with port 0 rejects the stream (RFC 3264 section 6).
      withVideo: /^m=video [1-9]/m.test(invite.sdp),
      event: deviceEvent(this.#deps.calls.nodeId, 'verto.invite', invite),
    })
    if (isNotified) return
    this.#devices = undefined
    this.#endUnreachable()
    this.#awaitPages()
  }

  /** Whether an answer can arrive now: a page is connected, or an answer is being processed. */
  get #isReachable(): boolean {
    return [...this.#ringing.keys()].some((browser) => browser.session || browser === this.#answering)
  }

  /**
   * Restarts the wait for pages to reconnect, unless a page or a device can answer. The leg ends if no page
   * has reconnected when the wait is over.
   */
  #awaitPages(): void {
    this.#reconnectTimer?.cancel()
    const isOver = () => this.#isOver || this.#winner || this.#devices || this.#isReachable
    if (isOver()) return
    this.#reconnectTimer = this.#deps.clock.after(maxReconnectMs, () => {
      if (!isOver()) this.leg.ended(this.#refusal ?? { code: 'not_online' })
    })
  }

  /**
   * Ends a declined leg unless another connected browser still rings. After a decline the caller does not
   * wait for disconnected pages or notified devices, which may never respond.
   */
  #endDeclined(): void {
    if (!this.#winner && !this.#isReachable) this.leg.ended(this.#refusal ?? { code: 'declined' })
  }

  /** Ends the leg if no session rings and no device may open one. */
  #endUnreachable(): void {
    if (this.#ringing.size === 0 && !this.#devices && !this.#winner)
      this.leg.ended(this.#refusal ?? { code: 'not_online' })
  }

  #cancel(cause: Cause): void {
    this.#devices?.cancel(
      deviceEvent(this.#deps.calls.nodeId, 'verto.bye', { callID: this.wireId, ...byeOf(cause) }),
    )
    this.#devices = undefined
  }

  /** Returns the invite for a page. Push notifications are small, so only this invite has the variables. */
  #inviteOfPage(media: BrowserMedia) {
    const { userVariables } = this.#options
    return { ...this.#invite(media), ...(userVariables && { userVariables }) }
  }

  #invite({ sdp }: BrowserMedia) {
    return inviteOf(this.leg, this.wireId, sdp)
  }

  /** Returns false if the session rings already or the call takes no further answer. */
  #attach(browser: BrowserSession): boolean {
    if (this.#isOver || this.#winner || this.#ringing.has(browser)) return false
    this.#ringing.set(browser, browser.session)
    browser.calls.set(this.wireId, this)
    return true
  }

  async #processAnswer(browser: BrowserSession, sdp: string, variables: ReadVariables): Promise<void> {
    const media = this.#media
    if (browser === this.#winner) return
    if (this.#winner || this.#isOver || !media || !this.#ringing.has(browser)) {
      this.#dismiss(browser, { code: 'answered_elsewhere' })
      return
    }
    this.#answering = browser
    try {
      if ('fault' in variables) throw new TrunklineError('bad_user_variables', variables.fault)
      await media.accept(sdp)
    } catch (error) {
      this.#rejectAnswer(browser, error)
      return
    } finally {
      this.#answering = undefined
    }
    if (!this.#isOver) this.#connect(browser, media, variables.variables)
  }

  /**
   * Ends the call for a page that sent an unusable answer. The offered media continues to wait for the answer
   * of another page.
   */
  #rejectAnswer(browser: BrowserSession, error: unknown): void {
    if (this.#isOver) return
    const { leg } = this
    const { metrics, log } = this.#deps
    const cause = mediaCause(error)
    if (!answerFaults.has(cause.code)) {
      leg.ended(cause)
      return
    }
    metrics.rejections.inc({ code: cause.code })
    log.warn(
      { event: 'browser.answer-rejected', leg: leg.id, subscriber: this.subscriberId, ...cause },
      'answer of a browser rejected',
    )
    this.#leave(browser)
    this.#dismiss(browser, cause)
    // A person's decline takes precedence.
    this.#refusal ??= cause
    this.#endUnreachable()
  }

  #connect(browser: BrowserSession, media: BrowserMedia, meta?: UserVariables): void {
    const { leg } = this
    const { callId: roomId, names } = this.#options
    this.#winner = browser
    this.#reconnectTimer?.cancel()
    this.#ringing.delete(browser)
    for (const loser of this.#ringing.keys()) this.#dismiss(loser, { code: 'answered_elsewhere' })
    this.#ringing.clear()
    this.#cancel({ code: 'answered_elsewhere' })
    const callId = this.wireId
    this.call = this.#deps.calls.begin({
      browser,
      callId,
      roomId,
      leg,
      media,
      names,
      meta,
      isDescribed: true,
    })
    this.call.reportState('answered')
    this.call.members.joined()
    // The SDK makes its own answer active only by this message.
    this.call.verto('verto.answer')
    leg.answered()
  }

  /** Stops ringing a session for good. Returns false if it did not ring. */
  #leave(browser: BrowserSession): boolean {
    if (!this.#ringing.delete(browser)) return false
    this.#declined.add(browser)
    browser.calls.delete(this.wireId)
    return true
  }

  #dismiss(browser: BrowserSession, cause: Cause): void {
    browser.calls.delete(this.wireId)
    browser.sendVerto('verto.bye', { callID: this.wireId, ...byeOf(cause) })
  }
}
