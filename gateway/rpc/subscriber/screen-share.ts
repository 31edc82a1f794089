import type { BrowserScreen } from '../../../media/types.ts'
import { type BrowserMediaWatch, causeOfLoss } from '../../calls/leg/browser-media-watch.ts'
import { type Cause, type Code, TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { BrowserCall, SharedScreen } from './browser-call.ts'
import type { BrowserCallFactory } from './browser-call-factory.ts'
import type { BrowserSession, SessionCall } from './browser-session.ts'
import { byeOf } from './bye-causes.ts'
import { mediaErrorCode } from './media-error.ts'
import { Member } from './member.ts'
import { OfferRepetition } from './offer-repetition.ts'
import type { BrowserRoom } from './rooms/browser-room.ts'
import type { Invite } from './verto-messages.ts'

/** Collaborators of {@link ScreenShare}. */
export interface ScreenShareDeps {
  readonly calls: BrowserCallFactory
  readonly metrics: Pick<Metrics, 'rejections'>
  readonly log: Log
}

/**
 * Screen that a browser shares. It is a separate call for the browser, and a part of its present call for the
 * gateway. The other party sees it in place of the camera; in a room it is a member. It has no leg and no
 * CDR. The share ends with a bye, with its media, or with the call.
 */
export class ScreenShare implements SessionCall, SharedScreen {
  readonly offers = new OfferRepetition()
  #deps: ScreenShareDeps
  #browser: BrowserSession
  #invite: Invite
  #main: BrowserCall | undefined
  #screen: BrowserScreen | undefined
  /** Removes the screen from the call or the room. */
  #remove: (() => void) | undefined
  #watch: BrowserMediaWatch | undefined
  #isOver = false

  constructor(deps: ScreenShareDeps, browser: BrowserSession, invite: Invite) {
    this.#deps = deps
    this.#browser = browser
    this.#invite = invite
    browser.calls.set(invite.callId, this)
  }

  /** Answers the offer and shows the screen, or sends `verto.bye`. Never rejects. */
  async open(offer: string): Promise<void> {
    const main = this.#mainCall()
    if (typeof main === 'string') {
      this.#refuse(main)
      return
    }
    // From here on the call owns the screen: it replaces a former one, and ends with the call.
    this.#main = main
    main.share(this)
    try {
      this.#screen = await this.#deps.calls.webrtc.screen(main.roomId, offer)
    } catch (error) {
      if (!this.#isOver) this.#refuse(mediaErrorCode(error), error)
      return
    }
    if (this.#isOver) await this.#screen.close()
    // Checked again, because the other party may have shared a screen meanwhile.
    else if (!main.room && main.members.partner?.screen) this.#refuse('busy')
    else this.#tryShow(main, this.#screen)
  }

  browserCall(): undefined {
    return undefined
  }

  /** Does nothing: a browser does not answer its own screen. */
  async onAnswer(): Promise<void> {}

  onBye(): void {
    this.#close()
  }

  onDigits(): void {}

  onSessionLost(): void {
    this.#close()
  }

  /** Answers a new offer for the screen; undefined if it has no media yet. */
  async renegotiate(offer: string): Promise<string | undefined> {
    const answer = await this.#screen?.renegotiate(offer)
    this.#watch?.renewed()
    return answer
  }

  end(cause: Cause): void {
    if (this.#close()) this.#browser.sendVerto('verto.bye', { callID: this.#invite.callId, ...byeOf(cause) })
  }

  /** Returns the call that the screen belongs to, or the code of the rejection. */
  #mainCall(): BrowserCall | Code {
    const { callId, memberId } = this.#invite.parent
    const main =
      callId === undefined ? undefined : this.#browser.calls.get(callId)?.browserCall(this.#browser)
    if (!this.#browser.isAuthorized) return 'unauthorized'
    const ownIds = [main?.party.member.id, main?.room?.member.id]
    if (!main?.leg.isAnswered || memberId === undefined || !ownIds.includes(memberId))
      return 'call_not_in_progress'
    return !main.room && main.members.partner?.screen ? 'busy' : main
  }

  /** Shows the screen, or rejects it if the room does not admit it. */
  #tryShow(main: BrowserCall, screen: BrowserScreen): void {
    try {
      this.#show(main, screen)
    } catch (error) {
      if (!(error instanceof TrunklineError)) throw error
      this.#refuse(error.code, error)
    }
  }

  #show(main: BrowserCall, screen: BrowserScreen): void {
    const { calls, log } = this.#deps
    const { callId } = this.#invite
    this.#watch = calls.watch(screen, (state) => {
      log.info(
        { event: 'screen-share.media-lost', call: main.roomId, state },
        'media of a shared screen lost',
      )
      this.end(causeOfLoss(state, 'client_lost'))
    })
    this.#browser.sendVerto('verto.answer', { callID: callId, sdp: screen.sdp })
    // `call.joined` is not sent: the published SDK would take the screen for the browser's own member. The
    // SDK waits for `member.joined` instead.
    this.#remove = main.room ? this.#addToRoom(main.room, screen) : this.#addToCall(main, screen)
    log.info(
      { event: 'screen-share.started', call: main.roomId, subscriber: this.#browser.identity.id },
      'screen share started',
    )
  }

  /** Shows the screen to the other party of a call. Returns a function that removes it. */
  #addToCall(main: BrowserCall, screen: BrowserScreen): () => void {
    const { nodeId } = this.#browser
    const parentId = main.party.member.id
    const member = new Member({ type: 'screen', callId: this.#invite.callId, nodeId, parentId })
    main.media.present(screen)
    main.members.screenJoined(member)
    return () => {
      main.media.present(undefined)
      main.members.screenLeft(member)
    }
  }

  /** Shows the screen in a room. Returns a function that removes it. Throws as `RoomSession.join` does. */
  #addToRoom(room: BrowserRoom, screen: BrowserScreen): () => void {
    const { callId, layout, position } = this.#invite
    const member = room.addScreen({
      screen,
      callId,
      ...(layout !== undefined && { layout }),
      ...(position !== undefined && { position }),
      onRemoved: () => this.end({ code: 'normal' }),
    })
    return () => room.removeScreen(member)
  }

  /** Ends the share. Returns false if it has ended already. */
  #close(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#watch?.close()
    this.#browser.calls.delete(this.#invite.callId)
    const main = this.#main
    if (main?.screen === this) main.share(undefined)
    this.#remove?.()
    void this.#screen?.close()
    return true
  }

  #refuse(code: Code, error?: unknown): void {
    this.#deps.metrics.rejections.inc({ code })
    const reason = error instanceof Error ? error.message : undefined
    this.#deps.log.info(
      { event: 'screen-share.rejected', code, subscriber: this.#browser.identity.id, reason },
      'screen share rejected',
    )
    this.end({ code })
  }
}
