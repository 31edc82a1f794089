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
import { type DisplayedParty, displayedTo, nameOf, type ShownNames } from './displayed-party.ts'
import { layoutOf, layouts } from './layouts.ts'
import type { Member, MemberState, MemberView } from './member.ts'

/** Facts and collaborators of {@link MemberEvents}. */
export interface MemberEventsOptions {
  readonly browser: BrowserSession
  readonly wire: WireCall
  /** The browser itself. */
  readonly party: CallParty
  readonly parties: CallParties
  /** Names that the browser sees in place of the parties' own. */
  readonly names: ShownNames
  readonly video: BrowserVideo
  /**
   * Called when muting, deafness, volume or the partner changes, because the browser's audio may change with
   * it.
   */
  readonly onAudioChange: () => void
}

/** Events of one browser about the members of its call: itself, the other party, and their shared screens. */
export class MemberEvents {
  readonly party: CallParty
  /** Legs of the persons that the browser has added to the call, and may remove. */
  readonly added = new Set<Leg>()
  #options: MemberEventsOptions
  #partner: CallParty | undefined
  /** Other members of the conference. */
  #conference: ReadonlySet<CallParty> = new Set()
  /** Functions that stop following the holds of a party. */
  readonly #holds = new Map<CallParty, () => void>()
  #hasJoined = false
  #isInRoom = false
  #isLocked = false
  #wasVisible = false

  constructor(options: MemberEventsOptions) {
    this.#options = options
    this.party = options.party
    this.party.events = this
    options.video.onChange(() => this.#videoChanged())
  }

  /** Other members of the browser's conference; empty outside a conference. */
  get conferenceMembers(): ReadonlySet<CallParty> {
    return this.#conference
  }

  /** Whether `call.joined` of the call was sent, and `call.left` was not. */
  get hasJoined(): boolean {
    return this.#hasJoined
  }

  /** Sets whether the browser is in a room, whose layout it receives in place of that of the call. */
  setInRoom(isInRoom: boolean): void {
    this.#isInRoom = isInRoom
    if (!isInRoom) this.#sendLayout()
  }

  /** Party that the browser is connected to. */
  get partner(): CallParty | undefined {
    return this.#partner
  }

  /** Every member of the call. */
  get members(): readonly MemberView[] {
    return [this.party, ...this.#others].flatMap((party) => {
      const own = this.#view(party)
      return party.screen ? [own, this.#viewOf(party, party.screen)] : [own]
    })
  }

  /** Sends `call.joined`, upon which `start()` of the SDK resolves. */
  joined(): void {
    const { wire, browser } = this.#options
    this.#hasJoined = true
    this.#followHolds()
    this.#wasVisible = this.party.isVisible
    const { id } = this.party.member
    this.#emit('call.joined', callJoined(wire, id, this.#facts, capabilitiesOf(browser.identity)))
    if (this.#partner) this.#sendConnected(this.#partner)
    this.#sendLayout()
  }

  /** Sends `call.left` if the browser had joined. */
  left(reason: string): void {
    if (this.#hasJoined) this.#emit('call.left', callLeft(this.#options.wire, this.party.member.id, reason))
    this.#hasJoined = false
    this.#followHolds()
  }

  /** Reports that a callee is being called for the browser. */
  calling(leg: Leg): void {
    this.#emit(
      'call.connect',
      callConnect(this.#options.wire, 'connecting', this.#peer({ leg, identity: undefined })),
    )
  }

  /** Sets the leg that the browser is connected to, if any. */
  paired(leg: Leg | undefined): void {
    const before = this.#others
    this.#partner = leg && this.#options.parties.of(leg)
    // The browser may have muted its former partner, a telephone; the mute must not outlast the connection.
    if (this.#partner && !this.#partner.events) this.#partner.member.set({ audio_muted: false })
    this.#options.onAudioChange()
    if (!this.#hasJoined) return
    this.#sendMoves(before)
    if (this.#partner) this.#sendConnected(this.#partner)
    this.#sendLayout()
  }

  /** Sets the other members of the conference. */
  gathered(legs: readonly Leg[]): void {
    const before = this.#others
    const hadConference = this.#conference.size > 0
    this.#conference = new Set(legs.map((leg) => this.#options.parties.of(leg)))
    // A conference has no video; the published SDK closes a camera that is muted.
    if (legs.length > 0 && !hadConference && this.party.isVisible)
      this.change(this.party, { video_muted: true })
    if (this.#hasJoined) this.#sendMoves(before)
  }

  /** Changes a member and reports it to every browser that sees the member. */
  change(party: CallParty, changes: Partial<MemberState>): void {
    const before = party.isVisible
    const names = party.member.set(changes)
    if (party.isVisible !== before) names.push('visible')
    this.#forAll((events) => events.#updated(party, names))
  }

  /** Sets the audio processing of the browser's microphone. */
  constrain({ echo_cancellation, auto_gain, noise_suppression }: Partial<MemberState>): void {
    const audio = {
      ...(echo_cancellation !== undefined && { echoCancellation: echo_cancellation }),
      ...(auto_gain !== undefined && { autoGainControl: auto_gain }),
      ...(noise_suppression !== undefined && { noiseSuppression: noise_suppression }),
    }
    const { browser, wire } = this.#options
    browser.sendVerto('verto.mediaParams', { callID: wire.callId, mediaParams: { audio } })
  }

  /** Reports a shared screen of the browser. */
  screenJoined(screen: Member): void {
    this.party.screen = screen
    this.#forBoth((events) => events.#screenMoved('member.joined', this.party, screen))
  }

  /** Reports the end of a shared screen; does nothing if another one is shared. */
  screenLeft(screen: Member): void {
    if (this.party.screen !== screen) return
    this.party.screen = undefined
    this.#forBoth((events) => events.#screenMoved('member.left', this.party, screen))
  }

  /** Locks the call for both parties if `isLocked`, otherwise unlocks it. */
  lock(isLocked: boolean): void {
    this.#forBoth((events) => {
      events.#isLocked = isLocked
      events.#sendUpdated(['locked'])
    })
  }

  /** Sends the layout. */
  sendLayout(): void {
    this.#emit('layout.changed', this.#layout)
  }

  /** The other parties. A person who was added to a call may become the partner, and stays a member. */
  get #others(): ReadonlySet<CallParty> {
    return new Set([...(this.#partner ? [this.#partner] : []), ...this.#conference])
  }

  get #facts(): RoomFacts {
    return { members: this.members, locked: this.#isLocked, layout: layouts[0] }
  }

  get #layout() {
    const { roomId } = this.#options.wire
    const other = this.#partner
    const member = other?.screen ?? other?.member
    const filling = other &&
      member && { memberId: member.id, visible: other.screen !== undefined || other.isVisible }
    return { room_id: roomId, room_session_id: roomId, layout: layoutOf(roomId, filling) }
  }

  #forBoth(run: (events: MemberEvents) => void): void {
    run(this)
    const events = this.#partner?.events
    // Only while the two are connected to each other.
    if (events && events.#partner === this.party) run(events)
  }

  /** Runs for the browser, its partner and the browsers of its conference. */
  #forAll(run: (events: MemberEvents) => void): void {
    this.#forBoth(run)
    for (const { events } of this.#conference) if (events?.conferenceMembers.has(this.party)) run(events)
  }

  #updated(party: CallParty, names: readonly string[]): void {
    this.#wasVisible = this.party.isVisible
    this.#options.onAudioChange()
    if (!this.#hasJoined) return
    this.#emit('member.updated', memberUpdated(this.#options.wire, this.#view(party), names))
    if (party !== this.party && names.includes('visible')) this.#sendLayout()
  }

  #screenMoved(event: 'member.joined' | 'member.left', party: CallParty, screen: Member): void {
    if (!this.#hasJoined) return
    this.#emit(event, memberMoved(this.#options.wire, this.#viewOf(party, screen)))
    if (party !== this.party) this.#sendLayout()
  }

  /** Sends the parties that have left or joined since they were `before`. */
  #sendMoves(before: ReadonlySet<CallParty>): void {
    const now = this.#others
    for (const party of before) if (!now.has(party)) this.#sendMoved('member.left', party)
    for (const party of now) if (!before.has(party)) this.#sendMoved('member.joined', party)
    this.#followHolds()
  }

  /** Reports the holds of the members, from `call.joined` until `call.left`. */
  #followHolds(): void {
    const parties = new Set(this.#hasJoined ? [this.party, ...this.#others] : [])
    for (const [party, stop] of this.#holds) {
      if (parties.has(party)) continue
      this.#holds.delete(party)
      stop()
    }
    for (const party of parties)
      if (!this.#holds.has(party))
        this.#holds.set(
          party,
          party.leg.whenHoldingChanges(() => this.#updated(party, ['on_hold'])),
        )
  }

  #sendMoved(event: 'member.joined' | 'member.left', party: CallParty): void {
    const { wire } = this.#options
    this.#emit(event, memberMoved(wire, this.#view(party)))
    if (party.screen) this.#emit(event, memberMoved(wire, this.#viewOf(party, party.screen)))
  }

  #sendConnected(party: CallParty): void {
    const { browser, wire } = this.#options
    this.#emit('call.connect', callConnect(wire, 'connected', this.#peer(party)))
    const { name, number } = this.#displayed(party)
    browser.sendVerto('verto.display', { callID: wire.callId, display_name: name, display_number: number })
  }

  #sendUpdated(names: readonly string[]): void {
    if (this.#hasJoined) this.#emit('call.updated', callUpdated(this.#options.wire, this.#facts, names))
  }

  #sendLayout(): void {
    if (this.#hasJoined && !this.#isInRoom && this.#options.video.isReceiving) this.sendLayout()
  }

  #videoChanged(): void {
    if (this.party.isVisible !== this.#wasVisible)
      this.#forBoth((events) => events.#updated(this.party, ['visible']))
    this.#sendLayout()
  }

  #peer(other: Pick<CallParty, 'leg' | 'identity'> & { readonly member?: Member }) {
    const { leg } = this.#options.wire
    const own = nameOf(leg.direction === 'inbound' ? leg.from : leg.to).number
    const { number } = displayedTo(this.#viewer, other)
    return {
      callId: other.member?.callId ?? other.leg.id,
      telephone: other.leg.kind === 'sip',
      ...(leg.direction === 'inbound' ? { from: own, to: number } : { from: number, to: own }),
    }
  }

  get #viewer() {
    const { browser, wire, names } = this.#options
    return { leg: wire.leg, identity: browser.identity, names }
  }

  #displayed(party: CallParty): DisplayedParty {
    if (party !== this.party) return displayedTo(this.#viewer, party)
    const { displayName: name, address: number, id, subscriber } = this.#options.browser.identity
    return { name, number, subscriberId: id, addressId: subscriber?.addressId ?? null }
  }

  #view(party: CallParty): MemberView {
    const isFilling = party !== this.party && party.isVisible && !party.screen
    return this.#display(party, party.member, { visible: party.isVisible, filling: isFilling })
  }

  #viewOf(party: CallParty, screen: Member): MemberView {
    return this.#display(party, screen, { visible: true, filling: party !== this.party })
  }

  #display(
    party: CallParty,
    member: Member,
    { visible, filling }: { visible: boolean; filling: boolean },
  ): MemberView {
    const { roomId } = this.#options.wire
    const { name, subscriberId, addressId } = this.#displayed(party)
    const position = filling ? 'standard-1' : 'off-canvas'
    const removable = this.added.has(party.leg)
    const isOnHold = party.leg.isHolding
    return member.view({ roomId, name, position, visible, subscriberId, addressId, removable, isOnHold })
  }

  #emit(type: string, params: unknown): void {
    this.#options.browser.emit(type, params)
  }
}
