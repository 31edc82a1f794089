import type { UserVariables } from '../../../handlers/verbs.ts'
import type { BrowserMedia } from '../../../media/types.ts'
import type { Leg, LegSignalling } from '../../calls/leg/leg.ts'
import type { PlayState } from '../../calls/leg/leg-signalling.ts'
import type { Timer } from '../../core/clock.ts'
import { type Cause, TrunklineError } from '../../core/errors/catalogue.ts'
import type { DeviceCall } from '../../push/device-call.ts'
import type { RpcSession } from '../rpc-session.ts'
import { BrowserCall } from './browser-call.ts'
import type { BrowserOutboundLegDeps, BrowserOutboundLegOptions } from './browser-outbound-leg-deps.ts'
import type { BrowserSession, SessionCall } from './browser-session.ts'
import { byeOf, causeOf, rejectAllCode } from './bye-causes.ts'
import { deviceEvent, inviteOf } from './invite-message.ts'
import { mediaCause } from './media-error.ts'
import type { ReadVariables } from './user-variables.ts'

/** Faults of an answer that end the call for its page alone: other pages may answer with the same media. */
const faultsOfPages: ReadonlySet<Cause['code']> = new Set([
  'bad_sdp',
  'no_common_codec',
  'bad_user_variables',
])

/**
 * Maximum wait for pages to reconnect while none is connected and no device was notified, in milliseconds.
 * Closed pages do not come back. It is shorter than the wait after which a caller of the published SDK
 * receives a description (`maxDescriptionWaitMs`).
 */
const maxAwayMs = 10_000

/**
 * A call to a subscriber: an outbound leg, seen from the gateway. Every page that is online gets the same
 * offer under the same id, and the first answer that can be used wins. Where no page is connected, the
 * subscriber's devices are told: it rings until a page that they open has answered, or nobody waits any more.
 */
export class BrowserOutboundLeg implements LegSignalling, SessionCall {
  readonly subscriberId: string
  /** What the pages know the call by. */
  readonly wireId: string
  #deps: BrowserOutboundLegDeps
  #options: BrowserOutboundLegOptions
  #media: BrowserMedia | undefined
  /** And the connections over which they were told of it. */
  #ringing = new Map<BrowserSession, RpcSession | undefined>()
  #declined = new WeakSet<BrowserSession>()
  /** What the page said that declined last. */
  #refusal: Cause | undefined
  /** A person has declined on one of the pages. */
  #isDeclined = false
  /** Its answer is being taken; it rings until that is done. */
  #taking: BrowserSession | undefined
  #answers: Promise<void> = Promise.resolve()
  #winner: BrowserSession | undefined
  /** Devices that may still open a page. */
  #devices: DeviceCall | undefined
  /** Runs while no page is connected. */
  #away: Timer | undefined
  #call: BrowserCall | undefined
  #endedByBrowser = false
  #over = false

  constructor(deps: BrowserOutboundLegDeps, options: BrowserOutboundLegOptions) {
    this.#deps = deps
    this.#options = options
    this.subscriberId = options.subscriberId
    this.wireId = options.leg.id
  }

  /** Makes the offer and rings the pages. Never rejects: what goes wrong ends the leg. */
  async start(pages: () => readonly BrowserSession[]): Promise<void> {
    const { leg, callId, codec, video } = this.#options
    // A page that lost its connection may be back in time; a telephone's seldom is.
    const connected = pages().some(({ session }) => session !== undefined)
    const { push } = this.#deps
    const devices = push && (await push.call(this.subscriberId, connected))
    if (this.#over) return
    if (pages().length === 0 && !devices) {
      leg.ended({ code: 'not_online' })
      return
    }
    try {
      this.#media = await this.#deps.webrtc.offer(callId, codec, { video })
    } catch (error) {
      leg.ended(mediaCause(error))
      return
    }
    // From here on the leg closes the port, whether or not anybody answers.
    leg.setPort(this.#media.port, this.#media.video)
    if (this.#over) await this.#media.close()
    else this.#ringAll(pages(), devices)
  }

  /** A page has answered it. */
  get isTaken(): boolean {
    return this.#winner !== undefined
  }

  /**
   * Rings a page. Harmless when it rings already, when it has declined, and when nobody is wanted any more.
   * `anew`: the page may have been loaded again since it was told, and not know any more.
   */
  invite(browser: BrowserSession, anew = false): void {
    if (!this.#media || this.#declined.has(browser)) return
    const unaware = anew && this.#ringing.has(browser) && this.#ringing.get(browser) !== browser.session
    if (unaware) this.#ringing.set(browser, browser.session)
    if (unaware || this.#attach(browser)) browser.sendVerto('verto.invite', this.#inviteOfPage(this.#media))
  }

  /**
   * A page that knows the call from a push notification wants to hear of it; it is told when there is nothing
   * more to hear.
   */
  attach(browser: BrowserSession): void {
    if (this.#attach(browser) || this.#ringing.has(browser) || browser === this.#winner) return
    this.#dismiss(browser, { code: 'answered_elsewhere' })
  }

  browserCall(browser: BrowserSession): BrowserCall | undefined {
    return browser === this.#winner ? this.#call : undefined
  }

  /** Answers are taken one after another: the second counts where the first cannot be used. */
  onAnswer(browser: BrowserSession, sdp: string, said: ReadVariables): Promise<void> {
    const take = () => this.#take(browser, sdp, said)
    this.#answers = this.#answers.then(take, take)
    return this.#answers
  }

  onBye(browser: BrowserSession, causeCode: number | undefined): void {
    const { leg } = this.#options
    if (browser === this.#winner || browser === this.#taking) {
      this.#endedByBrowser = true
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
    for (const digit of digits) this.#options.leg.digit(digit)
  }

  onSessionLost(browser: BrowserSession): void {
    const { leg } = this.#options
    if (browser === this.#winner || browser === this.#taking) {
      this.#endedByBrowser = true
      leg.ended({ code: 'client_lost' })
    } else if (this.#ringing.delete(browser)) this.#endUnheard()
  }

  // What the call tells the pages. An outbound leg is neither rung nor answered by us.

  ring(): void {}

  async progress(): Promise<void> {}

  async answer(): Promise<void> {}

  end(cause: Cause): void {
    this.#over = true
    this.#away?.cancel()
    for (const browser of this.#ringing.keys()) this.#dismiss(browser, cause)
    this.#ringing.clear()
    this.#cancel(cause)
    if (this.#call) this.#call.close(cause, this.#endedByBrowser)
    else void this.#media?.close()
  }

  async sendDigits(digits: string): Promise<void> {
    this.#call?.verto('verto.info', { dtmf: digits })
  }

  calling(partner: Leg): void {
    this.#call?.members.calling(partner)
  }

  paired(partner: Leg | undefined): void {
    this.#call?.members.paired(partner)
  }

  gathered(others: readonly Leg[]): void {
    this.#call?.members.gathered(others)
  }

  plays(id: string, state: PlayState): void {
    this.#call?.reportPlayback(id, state)
  }

  userEvent(event: Readonly<Record<string, unknown>>): boolean {
    this.#call?.userEvent(event)
    return this.#call !== undefined
  }

  #ringAll(browsers: readonly BrowserSession[], devices: DeviceCall | undefined): void {
    this.#devices = devices
    for (const browser of browsers) this.invite(browser)
    if (this.#ringing.size === 0 && !devices) this.#options.leg.ended({ code: 'not_online' })
    else this.#options.leg.early(false)
    this.#awaitPages()
    if (devices && !this.#over) void this.#wake(devices)
  }

  async #wake(devices: DeviceCall): Promise<void> {
    const invite = this.#invite(this.#media!)
    const told = await devices.invite({
      callerName: invite.caller_id_name,
      callerId: invite.caller_id_number,
      // A media line with the port 0 is refused (RFC 3264 section 6).
      withVideo: /^m=video [1-9]/m.test(invite.sdp),
      event: deviceEvent(this.#deps.nodeId, 'verto.invite', invite),
    })
    if (told) return
    this.#devices = undefined
    this.#endUnheard()
    this.#awaitPages()
  }

  /** Whether a page can answer now: it is connected, or its answer is being taken. */
  get #isReachable(): boolean {
    return [...this.#ringing.keys()].some((browser) => browser.session || browser === this.#taking)
  }

  /**
   * Starts the wait for pages anew, unless a page or a device can answer. The leg ends if none has
   * reconnected by its end.
   */
  #awaitPages(): void {
    this.#away?.cancel()
    const isOver = () => this.#over || this.#winner || this.#devices || this.#isReachable
    if (isOver()) return
    this.#away = this.#deps.clock.after(maxAwayMs, () => {
      if (!isOver()) this.#options.leg.ended(this.#refusal ?? { code: 'not_online' })
    })
  }

  /**
   * Ends a declined leg, unless another page that is connected still rings. A page that is waited for may
   * have been closed, and a device that was notified may be switched off: neither keeps the caller waiting
   * after a person has declined.
   */
  #endDeclined(): void {
    if (!this.#winner && !this.#isReachable) this.#options.leg.ended(this.#refusal ?? { code: 'declined' })
  }

  /** Ends the leg where nobody rings, and nobody will. */
  #endUnheard(): void {
    if (this.#ringing.size === 0 && !this.#devices && !this.#winner)
      this.#options.leg.ended(this.#refusal ?? { code: 'not_online' })
  }

  #cancel(cause: Cause): void {
    this.#devices?.cancel(
      deviceEvent(this.#deps.nodeId, 'verto.bye', { callID: this.wireId, ...byeOf(cause) }),
    )
    this.#devices = undefined
  }

  /** What a device gets has room for little; the page that it opens hears of the variables. */
  #inviteOfPage(media: BrowserMedia) {
    const { userVariables } = this.#options
    return { ...this.#invite(media), ...(userVariables && { userVariables }) }
  }

  #invite({ sdp }: BrowserMedia) {
    return inviteOf(this.#options.leg, this.wireId, sdp)
  }

  /** False when the page is part of it already, or nobody is wanted any more. */
  #attach(browser: BrowserSession): boolean {
    if (this.#over || this.#winner || this.#ringing.has(browser)) return false
    this.#ringing.set(browser, browser.session)
    browser.calls.set(this.wireId, this)
    return true
  }

  async #take(browser: BrowserSession, sdp: string, said: ReadVariables): Promise<void> {
    const media = this.#media
    if (browser === this.#winner) return
    if (this.#winner || this.#over || !media || !this.#ringing.has(browser)) {
      this.#dismiss(browser, { code: 'answered_elsewhere' })
      return
    }
    this.#taking = browser
    try {
      if ('fault' in said) throw new TrunklineError('bad_user_variables', said.fault)
      await media.accept(sdp)
    } catch (error) {
      this.#unusable(browser, error)
      return
    } finally {
      this.#taking = undefined
    }
    if (!this.#over) this.#won(browser, media, said.variables)
  }

  /**
   * What is wrong with a description ends the call for its page alone: all were offered the same media, which
   * still waits for an answer.
   */
  #unusable(browser: BrowserSession, error: unknown): void {
    if (this.#over) return
    const { leg } = this.#options
    const { metrics, log } = this.#deps
    const cause = mediaCause(error)
    if (!faultsOfPages.has(cause.code)) {
      leg.ended(cause)
      return
    }
    metrics.rejections.inc({ code: cause.code })
    log.warn({ leg: leg.id, subscriber: this.subscriberId, ...cause }, 'the answer cannot be taken')
    this.#leave(browser)
    this.#dismiss(browser, cause)
    // What a person said tells the caller more.
    this.#refusal ??= cause
    this.#endUnheard()
  }

  #won(browser: BrowserSession, media: BrowserMedia, meta?: UserVariables): void {
    const { leg, callId: roomId, caller } = this.#options
    const { parties, clock, log } = this.#deps
    this.#winner = browser
    this.#away?.cancel()
    this.#ringing.delete(browser)
    for (const loser of this.#ringing.keys()) this.#dismiss(loser, { code: 'answered_elsewhere' })
    this.#ringing.clear()
    this.#cancel({ code: 'answered_elsewhere' })
    const made = { browser, callId: this.wireId, roomId, leg, media, parties, ...(caller && { caller }) }
    this.#call = new BrowserCall({ ...made, ...(meta && { meta }), isDescribed: true, clock, log })
    this.#call.state('answered')
    this.#call.members.joined()
    // The SDK calls its own answer active only by this.
    this.#call.verto('verto.answer')
    leg.answered()
  }

  /** The page rings no more, and is not rung again. False when it did not ring. */
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
