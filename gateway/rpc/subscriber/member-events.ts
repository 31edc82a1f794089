import type { BrowserVideo } from '../../../media/types.ts'
import type { Leg } from '../../calls/leg/leg.ts'
import {
  callConnect,
  callJoined,
  callLeft,
  callUpdated,
  capabilitiesOf,
  memberMoved,
  memberUpdated,
  type RoomFacts,
  type WireCall,
} from './browser-events.ts'
import type { BrowserSession } from './browser-session.ts'
import type { CallParties, CallParty } from './call-parties.ts'
import { type DisplayedParty, displayedTo, nameOf } from './displayed-party.ts'
import { layoutOf, layouts } from './layouts.ts'
import type { Member, MemberState, MemberView } from './member.ts'

/** What the members of a page's call are told with. */
export interface MemberEventsOptions {
  readonly browser: BrowserSession
  readonly wire: WireCall
  /** The page itself. */
  readonly party: CallParty
  readonly parties: CallParties
  /** Who had the page invited. */
  readonly caller?: Leg
  readonly video: BrowserVideo
  /** Whether no video is ever taken of the page, nor shown to it. */
  readonly isAudioOnly: boolean
  /** Somebody was silenced, or deafened, or is another one: what the page hears may be something else. */
  readonly onHearing: () => void
}

/**
 * What one page is told of who takes part in its call: itself, the other party, and the screens that the two
 * share.
 */
export class MemberEvents {
  readonly party: CallParty
  #options: MemberEventsOptions
  #partner: CallParty | undefined
  /** The others of its conference. */
  #company: ReadonlySet<CallParty> = new Set()
  #joined = false
  #locked = false
  #visible = false

  constructor(options: MemberEventsOptions) {
    this.#options = options
    this.party = options.party
    this.party.page = this
    options.video.onChange(() => this.#videoChanged())
  }

  /** The others of the conference that the page takes part in; none outside one. */
  get company(): ReadonlySet<CallParty> {
    return this.#company
  }

  /** Whom the page talks to. */
  get partner(): CallParty | undefined {
    return this.#partner
  }

  /** Every member of the call. */
  get members(): readonly MemberView[] {
    const parties = [this.party, ...(this.#partner ? [this.#partner] : []), ...this.#company]
    return parties.flatMap((party) => {
      const own = this.#view(party)
      return party.screen ? [own, this.#viewOf(party, party.screen)] : [own]
    })
  }

  /** Tells the page that it is in the call; its `start()` resolves then. */
  joined(): void {
    const { wire, browser, isAudioOnly } = this.#options
    this.#joined = true
    this.#visible = this.party.isVisible
    const { id } = this.party.member
    this.#emit(
      'call.joined',
      callJoined(wire, id, this.#facts, capabilitiesOf(browser.identity, isAudioOnly)),
    )
    if (this.#partner) this.#tellConnected(this.#partner)
    this.#tellLayout()
  }

  /** Tells the page that it is not in the call any more. Nothing where it never was. */
  left(reason: string): void {
    if (this.#joined) this.#emit('call.left', callLeft(this.#options.wire, this.party.member.id, reason))
    this.#joined = false
  }

  /** Somebody is called for the page. */
  calling(leg: Leg): void {
    this.#emit(
      'call.connect',
      callConnect(this.#options.wire, 'connecting', this.#peer({ leg, identity: undefined })),
    )
  }

  /** The page talks to this leg from now on; undefined: to nobody. */
  paired(leg: Leg | undefined): void {
    const before = this.#partner
    this.#partner = leg && this.#options.parties.of(leg)
    // A telephone is not found muted by whoever heard it before, who may not have been told yet that it is
    // gone.
    if (this.#partner && !this.#partner.page) this.#partner.member.set({ audio_muted: false })
    this.#options.onHearing()
    if (!this.#joined) return
    if (before) this.#tellMoved('member.left', before)
    if (this.#partner) {
      this.#tellMoved('member.joined', this.#partner)
      this.#tellConnected(this.#partner)
    }
    this.#tellLayout()
  }

  /** The others of its conference, as of now. */
  gathered(legs: readonly Leg[]): void {
    const before = this.#company
    this.#company = new Set(legs.map((leg) => this.#options.parties.of(leg)))
    // A conference shows nobody's camera; the published SDK closes one that it finds muted.
    if (legs.length > 0 && before.size === 0 && this.party.isVisible)
      this.change(this.party, { video_muted: true })
    if (!this.#joined) return
    for (const party of before) if (!this.#company.has(party)) this.#tellMoved('member.left', party)
    for (const party of this.#company) if (!before.has(party)) this.#tellMoved('member.joined', party)
  }

  /** Changes a member, and tells everyone who sees it. */
  change(party: CallParty, changes: Partial<MemberState>): void {
    const before = party.isVisible
    const names = party.member.set(changes)
    if (party.isVisible !== before) names.push('visible')
    this.#everyone((page) => page.#updated(party, names))
  }

  /** Has the page's microphone treated so. */
  constrain({ echo_cancellation, auto_gain, noise_suppression }: Partial<MemberState>): void {
    const audio = {
      ...(echo_cancellation !== undefined && { echoCancellation: echo_cancellation }),
      ...(auto_gain !== undefined && { autoGainControl: auto_gain }),
      ...(noise_suppression !== undefined && { noiseSuppression: noise_suppression }),
    }
    const { browser, wire } = this.#options
    browser.sendVerto('verto.mediaParams', { callID: wire.callId, mediaParams: { audio } })
  }

  /** A screen of the page is shown from now on. */
  screenJoined(screen: Member): void {
    this.party.screen = screen
    this.#both((page) => page.#screenMoved('member.joined', this.party, screen))
  }

  /** It is not shown any more; harmless where another one is. */
  screenLeft(screen: Member): void {
    if (this.party.screen !== screen) return
    this.party.screen = undefined
    this.#both((page) => page.#screenMoved('member.left', this.party, screen))
  }

  /** Locks the call, or opens it again, for both. */
  lock(locked: boolean): void {
    this.#both((page) => {
      page.#locked = locked
      page.#tellUpdated(['locked'])
    })
  }

  /** The page has asked for the one layout that there is. */
  tellLayout(): void {
    this.#emit('layout.changed', this.#layout)
  }

  get #facts(): RoomFacts {
    return { members: this.members, locked: this.#locked, layout: layouts[0] }
  }

  get #layout() {
    const { roomId } = this.#options.wire
    const other = this.#partner
    const member = other?.screen ?? other?.member
    const filling = other &&
      member && { memberId: member.id, visible: other.screen !== undefined || other.isVisible }
    return { room_id: roomId, room_session_id: roomId, layout: layoutOf(roomId, filling) }
  }

  #both(tell: (page: MemberEvents) => void): void {
    tell(this)
    const page = this.#partner?.page
    // What is between the two is theirs alone.
    if (page && page.#partner === this.party) tell(page)
  }

  /** The page, the other party, and the pages of its conference. */
  #everyone(tell: (page: MemberEvents) => void): void {
    this.#both(tell)
    for (const { page } of this.#company) if (page?.company.has(this.party)) tell(page)
  }

  #updated(party: CallParty, names: readonly string[]): void {
    this.#visible = this.party.isVisible
    this.#options.onHearing()
    if (!this.#joined) return
    this.#emit('member.updated', memberUpdated(this.#options.wire, this.#view(party), names))
    if (party !== this.party && names.includes('visible')) this.#tellLayout()
  }

  #screenMoved(event: 'member.joined' | 'member.left', party: CallParty, screen: Member): void {
    if (!this.#joined) return
    this.#emit(event, memberMoved(this.#options.wire, this.#viewOf(party, screen)))
    if (party !== this.party) this.#tellLayout()
  }

  #tellMoved(event: 'member.joined' | 'member.left', party: CallParty): void {
    const { wire } = this.#options
    this.#emit(event, memberMoved(wire, this.#view(party)))
    if (party.screen) this.#emit(event, memberMoved(wire, this.#viewOf(party, party.screen)))
  }

  #tellConnected(party: CallParty): void {
    const { browser, wire } = this.#options
    this.#emit('call.connect', callConnect(wire, 'connected', this.#peer(party)))
    const { name, number } = this.#shown(party)
    browser.sendVerto('verto.display', { callID: wire.callId, display_name: name, display_number: number })
  }

  #tellUpdated(names: readonly string[]): void {
    if (this.#joined) this.#emit('call.updated', callUpdated(this.#options.wire, this.#facts, names))
  }

  #tellLayout(): void {
    if (this.#joined && this.#options.video.isReceiving) this.tellLayout()
  }

  #videoChanged(): void {
    if (this.party.isVisible !== this.#visible) this.#both((page) => page.#updated(this.party, ['visible']))
    this.#tellLayout()
  }

  #peer(other: Pick<CallParty, 'leg' | 'identity'> & { readonly member?: Member }) {
    const { leg } = this.#options.wire
    const own = nameOf(leg.direction === 'inbound' ? leg.from : leg.to).number
    const { number } = displayedTo(this.#look, other)
    return {
      callId: other.member?.callId ?? other.leg.id,
      telephone: other.leg.kind === 'sip',
      ...(leg.direction === 'inbound' ? { from: own, to: number } : { from: number, to: own }),
    }
  }

  get #look() {
    const { browser, wire, caller } = this.#options
    return { leg: wire.leg, identity: browser.identity, ...(caller && { caller }) }
  }

  #shown(party: CallParty): DisplayedParty {
    if (party !== this.party) return displayedTo(this.#look, party)
    const { displayName: name, address: number, id, subscriber } = this.#options.browser.identity
    return { name, number, subscriberId: id, addressId: subscriber?.addressId ?? null }
  }

  #view(party: CallParty): MemberView {
    const shown = party !== this.party && party.isVisible && !party.screen
    return this.#sight(party, party.member, { visible: party.isVisible, filling: shown })
  }

  #viewOf(party: CallParty, screen: Member): MemberView {
    return this.#sight(party, screen, { visible: true, filling: party !== this.party })
  }

  #sight(
    party: CallParty,
    member: Member,
    { visible, filling }: { visible: boolean; filling: boolean },
  ): MemberView {
    const { roomId } = this.#options.wire
    const { name, subscriberId, addressId } = this.#shown(party)
    const position = filling ? 'standard-1' : 'off-canvas'
    return member.view({ roomId, name, position, visible, subscriberId, addressId })
  }

  #emit(type: string, params: unknown): void {
    this.#options.browser.emit(type, params)
  }
}
