import type { BrowserScreen, WebRtc } from '../../../media/types.ts'
import { causeOfLoss, MediaWatch } from '../../calls/leg/media-watch.ts'
import type { Clock } from '../../core/clock.ts'
import type { Cause, Code } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { BrowserCall, SharedScreen } from './browser-call.ts'
import type { BrowserSession, SessionCall } from './browser-session.ts'
import { byeOf } from './bye-causes.ts'
import { mediaErrorCode } from './media-error.ts'
import { Member } from './member.ts'
import { OfferRepetition } from './offer-repetition.ts'
import type { VertoRequest } from './verto-messages.ts'

/** What a shared screen works with. */
export interface ScreenShareDeps {
  readonly webrtc: Pick<WebRtc, 'screen'>
  readonly metrics: Pick<Metrics, 'rejections'>
  readonly clock: Clock
  readonly log: Log
}

/** Without its offer, which is long and needed once. */
type Invite = Omit<Extract<VertoRequest, { kind: 'invite' }>, 'sdp'>

/**
 * A screen that a page shares: a call of its own for the page, and for us a part of the one that the page is
 * in. The other party sees it in place of the camera. It has no leg and no record; it ends with the page's
 * word, its media, or the call.
 */
export class ScreenShare implements SessionCall, SharedScreen {
  readonly offers = new OfferRepetition()
  #deps: ScreenShareDeps
  #browser: BrowserSession
  #invite: Invite
  #main: BrowserCall | undefined
  #screen: BrowserScreen | undefined
  #member: Member | undefined
  #watch: MediaWatch | undefined
  #over = false

  constructor(deps: ScreenShareDeps, browser: BrowserSession, invite: Invite) {
    this.#deps = deps
    this.#browser = browser
    this.#invite = invite
    browser.calls.set(invite.callId, this)
  }

  /** Answers the offer and shows the screen; a refusal is a `verto.bye`. Never rejects. */
  async open(offer: string): Promise<void> {
    const main = this.#mainCall()
    if (typeof main === 'string') {
      this.#refuse(main)
      return
    }
    // From here on it is the call's: one that is shared already has to go, and the call's end is this one's
    // too.
    this.#main = main
    main.share(this)
    try {
      this.#screen = await this.#deps.webrtc.screen(main.roomId, offer)
    } catch (error) {
      if (!this.#over) this.#refuse(mediaErrorCode(error), error)
      return
    }
    if (this.#over) await this.#screen.close()
    // The other party may have been faster.
    else if (main.members.partner?.screen) this.#refuse('busy')
    else this.#show(main, this.#screen)
  }

  browserCall(): undefined {
    return undefined
  }

  /** A page does not answer what it shares. */
  async onAnswer(): Promise<void> {}

  onBye(): void {
    this.#close()
  }

  onDigits(): void {}

  onSessionLost(): void {
    this.#close()
  }

  /** A new offer for the screen: its answer. Undefined while there is none. */
  async renegotiate(offer: string): Promise<string | undefined> {
    const answer = await this.#screen?.renegotiate(offer)
    this.#watch?.renewed()
    return answer
  }

  end(cause: Cause): void {
    if (this.#close()) this.#bye(cause)
  }

  /** The call that it belongs to, or why there is none. */
  #mainCall(): BrowserCall | Code {
    const { callId, memberId } = this.#invite.parent
    const main =
      callId === undefined ? undefined : this.#browser.calls.get(callId)?.browserCall(this.#browser)
    if (!this.#browser.isAuthorized) return 'unauthorized'
    if (!main?.leg.isAnswered || main.party.member.id !== memberId) return 'call_not_in_progress'
    if (main.isAudioOnly) return 'verb_unavailable'
    return main.members.partner?.screen ? 'busy' : main
  }

  #show(main: BrowserCall, screen: BrowserScreen): void {
    const { clock, log } = this.#deps
    const { callId } = this.#invite
    const { nodeId } = this.#browser
    const parentId = main.party.member.id
    this.#watch = new MediaWatch(screen, clock, (state) => {
      log.info({ call: main.roomId, state }, 'the media of a shared screen is lost')
      this.end(causeOfLoss(state, 'client_lost'))
    })
    this.#member = new Member({ type: 'screen', callId, nodeId, parentId })
    main.media.present(screen)
    this.#browser.sendVerto('verto.answer', { callID: callId, sdp: screen.sdp })
    // No `call.joined`: the published SDK would take the screen for the page's own member, in the call that
    // it belongs to. It waits for this.
    main.members.screenJoined(this.#member)
    log.info({ call: main.roomId, subscriber: this.#browser.identity.id }, 'a screen is shared')
  }

  /** False where it is over already. */
  #close(): boolean {
    if (this.#over) return false
    this.#over = true
    this.#watch?.close()
    this.#browser.calls.delete(this.#invite.callId)
    const main = this.#main
    if (main?.screen === this) main.share(undefined)
    if (main && this.#member) {
      main.media.present(undefined)
      main.members.screenLeft(this.#member)
    }
    void this.#screen?.close()
    return true
  }

  #refuse(code: Code, error?: unknown): void {
    this.#deps.metrics.rejections.inc({ code })
    const reason = error instanceof Error ? error.message : undefined
    this.#deps.log.info({ code, subscriber: this.#browser.identity.id, reason }, 'a screen cannot be shared')
    this.end({ code })
  }

  #bye(cause: Cause): void {
    this.#browser.sendVerto('verto.bye', { callID: this.#invite.callId, ...byeOf(cause) })
  }
}
