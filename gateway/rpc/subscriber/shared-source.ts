import type { BrowserSource } from '../../../media/types.ts'
import { type BrowserMediaWatch, causeOfLoss } from '../../calls/leg/browser-media-watch.ts'
import { type Cause, type Code, TrunklineError } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { BrowserCall, CallSource } from './browser-call.ts'
import type { BrowserCallFactory } from './browser-call-factory.ts'
import { roomCodecs } from './browser-dial-rules.ts'
import type { BrowserSession, SessionCall } from './browser-session.ts'
import { byeOf } from './bye-causes.ts'
import { mediaErrorCode } from './media-error.ts'
import { Member } from './member.ts'
import { OfferRepetition } from './offer-repetition.ts'
import type { BrowserRoom } from './rooms/browser-room.ts'
import type { Invite } from './verto-messages.ts'

/** Collaborators of {@link SharedSource}. */
export interface SharedSourceDeps {
  readonly calls: BrowserCallFactory
  readonly metrics: Pick<Metrics, 'rejections'>
  readonly log: Log
}

/**
 * Further source of a browser: a shared screen, or a second camera or microphone. It is a separate call for
 * the browser, and a part of its present call for the gateway. In a room it is a member, with its sound.
 * Outside a room, the other party sees a screen in place of the camera, and devices are rejected. It has no
 * leg and no CDR. It ends with a bye, with its media, or with the call.
 */
export class SharedSource implements SessionCall, CallSource {
  readonly type: CallSource['type']
  readonly offers = new OfferRepetition()
  #deps: SharedSourceDeps
  #browser: BrowserSession
  #invite: Invite
  #main: BrowserCall | undefined
  #source: BrowserSource | undefined
  /** Removes the source from the call or the room. */
  #remove: (() => void) | undefined
  #watch: BrowserMediaWatch | undefined
  #isOver = false

  constructor(deps: SharedSourceDeps, browser: BrowserSession, invite: Invite) {
    this.type = invite.part ?? 'screen'
    this.#deps = deps
    this.#browser = browser
    this.#invite = invite
    browser.calls.set(invite.callId, this)
  }

  /** Answers the offer and adds the source, or sends `verto.bye`. Never rejects. */
  async open(offer: string): Promise<void> {
    const main = this.#mainCall()
    if (typeof main === 'string') {
      this.#refuse(main)
      return
    }
    // From here on the call owns the source: a screen replaces a former one, and ends with the call.
    this.#main = main
    main.addSource(this)
    try {
      // Only the mixer of a room can carry its sound.
      this.#source = await this.#deps.calls.webrtc.source(main.roomId, offer, main.room ? roomCodecs : [])
    } catch (error) {
      if (!this.#isOver) this.#refuse(mediaErrorCode(error), error)
      return
    }
    if (this.#isOver) await this.#source.close()
    else if (this.type === 'screen' && !this.#source.hasVideo) this.#refuse('bad_sdp')
    // Checked again, because the call may have changed meanwhile.
    else if (this.#refusalOf(main)) this.#refuse(this.#refusalOf(main)!)
    else this.#tryShow(main, this.#source)
  }

  browserCall(): undefined {
    return undefined
  }

  /** Does nothing: a browser does not answer its own source. */
  async onAnswer(): Promise<void> {}

  onBye(): void {
    this.#close()
  }

  onDigits(): void {}

  onSessionLost(): void {
    this.#close()
  }

  /** Answers by an event the offer of a page that has reconnected. */
  async reattach(offer: string): Promise<void> {
    const sdp = await this.renegotiate(offer)
    if (sdp !== undefined && !this.#isOver)
      this.#browser.sendVerto('verto.answer', { callID: this.#invite.callId, sdp })
  }

  /** Answers a new offer for the source; undefined if it has no media yet. */
  async renegotiate(offer: string): Promise<string | undefined> {
    const answer = await this.#source?.renegotiate(offer)
    this.#watch?.renewed()
    return answer
  }

  end(cause: Cause): void {
    if (this.#close()) this.#browser.sendVerto('verto.bye', { callID: this.#invite.callId, ...byeOf(cause) })
  }

  /** Returns the call that the source belongs to, or the code of the rejection. */
  #mainCall(): BrowserCall | Code {
    const { callId, memberId } = this.#invite.parent
    const main =
      callId === undefined ? undefined : this.#browser.calls.get(callId)?.browserCall(this.#browser)
    if (!this.#browser.isAuthorized) return 'unauthorized'
    const ownIds = [main?.party.member.id, main?.room?.member.id]
    if (!main?.leg.isAnswered || memberId === undefined || !ownIds.includes(memberId))
      return 'call_not_in_progress'
    return this.#refusalOf(main) ?? main
  }

  /** Returns the reason why a call outside a room cannot have the source. */
  #refusalOf(main: BrowserCall): Code | undefined {
    if (main.room) return undefined
    if (this.type === 'device') return 'verb_unavailable'
    return main.members.partner?.screen && 'busy'
  }

  /** Adds the source, or rejects it if the room does not admit it. */
  #tryShow(main: BrowserCall, source: BrowserSource): void {
    try {
      this.#show(main, source)
    } catch (error) {
      if (!(error instanceof TrunklineError)) throw error
      this.#refuse(error.code, error)
    }
  }

  #show(main: BrowserCall, source: BrowserSource): void {
    const { calls, log } = this.#deps
    const { type } = this
    const { callId } = this.#invite
    const askOffer = () => {
      this.#browser.askOffer(callId)
      return true
    }
    this.#watch = calls.watch(source, askOffer, (state) => {
      log.info(
        { event: 'browser-source.media-lost', call: main.roomId, type, state },
        'media of a further source lost',
      )
      this.end(causeOfLoss(state, 'client_lost'))
    })
    this.#browser.sendVerto('verto.answer', { callID: callId, sdp: source.sdp })
    // `call.joined` is not sent: the published SDK would take the source for the browser's own member. The
    // SDK waits for `member.joined` instead.
    this.#remove = main.room ? this.#addToRoom(main.room, source) : this.#addToCall(main, source)
    log.info(
      { event: 'browser-source.started', call: main.roomId, type, subscriber: this.#browser.identity.id },
      'further source of a browser started',
    )
  }

  /** Shows the screen to the other party of a call. Returns a function that removes it. */
  #addToCall(main: BrowserCall, screen: BrowserSource): () => void {
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

  /** Adds the source to a room. Returns a function that removes it. Throws as `RoomSeat.addSource` does. */
  #addToRoom(room: BrowserRoom, source: BrowserSource): () => void {
    const { callId, layout, position } = this.#invite
    const member = room.addSource({
      type: this.type,
      source,
      callId,
      ...(layout !== undefined && { layout }),
      ...(position !== undefined && { position }),
      onRemoved: () => {
        // The room removes the member itself, with its reason.
        this.#remove = undefined
        this.end({ code: 'normal' })
      },
    })
    return () => room.removeSource(member)
  }

  /** Ends the source. Returns false if it has ended already. */
  #close(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#watch?.close()
    this.#browser.calls.delete(this.#invite.callId)
    this.#main?.removeSource(this)
    this.#remove?.()
    void this.#source?.close()
    return true
  }

  #refuse(code: Code, error?: unknown): void {
    this.#deps.metrics.rejections.inc({ code })
    const reason = error instanceof Error ? error.message : undefined
    this.#deps.log.info(
      {
        event: 'browser-source.rejected',
        code,
        type: this.type,
        subscriber: this.#browser.identity.id,
        reason,
      },
      'further source of a browser rejected',
    )
    this.end({ code })
  }
}
