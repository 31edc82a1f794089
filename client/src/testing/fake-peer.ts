import { FakeTrack } from './fake-media.ts'

/** One section of the media that a {@link FakePeer} negotiates. */
export class FakeTransceiver {
  direction: string
  /** Place of the section, as browsers name it. */
  mid: string | null = null
  currentDirection: string | null = null
  readonly receiver: { readonly track: FakeTrack }
  readonly sender: { track: FakeTrack | null; replaceTrack(track: FakeTrack | null): Promise<void> }

  constructor(kind: string, direction: string, track: FakeTrack | null, turn: () => Promise<void>) {
    this.direction = direction
    this.receiver = { track: new FakeTrack(kind, `far-${kind}`) }
    this.sender = {
      track,
      async replaceTrack(other) {
        await turn()
        this.track = other
      },
    }
  }

  get kind(): string {
    return this.receiver.track.kind
  }

  stop(): void {
    this.direction = 'stopped'
  }
}

/** Peer connection whose gathering is complete at once, and whose far side accepts every offer. */
export class FakePeer {
  configuration: RTCConfiguration
  readonly remote: RTCSessionDescriptionInit[] = []
  readonly sections: FakeTransceiver[] = []
  /** Ids of the sizes in which tracks are sent. */
  readonly rids: string[] = []
  readonly offers: (RTCOfferOptions | undefined)[] = []
  localDescription: RTCSessionDescriptionInit | null = null
  iceGatheringState = 'complete'
  connectionState = 'new'
  signalingState = 'stable'
  closed = false
  /** Negotiated direction of a kind, if not the offered one; `stopped`: its section is rejected. */
  readonly refused: Record<string, string> = {}
  /** Promise that the next operation of the connection waits for. */
  busy: Promise<void> = Promise.resolve()
  onicecandidate: ((event: { candidate: object | null }) => void) | null = null
  onicegatheringstatechange: (() => void) | null = null
  onconnectionstatechange: (() => void) | null = null
  ontrack: ((event: { track: FakeTrack }) => void) | null = null

  constructor(configuration: RTCConfiguration) {
    this.configuration = configuration
  }

  /** Kind and direction of each section, in order. */
  get shape(): string[] {
    return this.sections.map(({ kind, direction }) => `${kind} ${direction}`)
  }

  /** Tracks that are sent, by kind. */
  sent(kind: string): FakeTrack | null | undefined {
    return this.sections.find((section) => section.kind === kind)?.sender.track
  }

  setConfiguration(configuration: RTCConfiguration): void {
    this.configuration = configuration
  }

  getTransceivers(): FakeTransceiver[] {
    return this.sections
  }

  addTransceiver(
    of: string | FakeTrack,
    { direction, sendEncodings }: { direction: string; sendEncodings?: { rid: string }[] },
  ): FakeTransceiver {
    if (sendEncodings) this.rids.push(...sendEncodings.map(({ rid }) => rid))
    const [kind, track] = typeof of === 'string' ? [of, null] : [of.kind, of]
    const section = new FakeTransceiver(kind, direction, track, () => this.#turn())
    this.sections.push(section)
    return section
  }

  async createOffer(options?: RTCOfferOptions): Promise<RTCSessionDescriptionInit> {
    await this.#turn()
    this.offers.push(options)
    return { type: 'offer', sdp: `offer ${this.offers.length}` }
  }

  async createAnswer(): Promise<RTCSessionDescriptionInit> {
    await this.#turn()
    return { type: 'answer', sdp: 'answer' }
  }

  async setLocalDescription(description: RTCSessionDescriptionInit): Promise<void> {
    await this.#turn()
    this.signalingState = description.type === 'offer' ? 'have-local-offer' : 'stable'
    if (description.type !== 'rollback') this.localDescription = description
    if (description.type === 'answer') this.#agreed()
  }

  async setRemoteDescription(description: RTCSessionDescriptionInit): Promise<void> {
    await this.#turn()
    if (description.sdp === 'broken') throw new Error('cannot parse')
    const answers = description.type === 'answer'
    if (answers !== (this.signalingState === 'have-local-offer'))
      throw new DOMException(`${description.type} while ${this.signalingState}`, 'InvalidStateError')
    this.remote.push(description)
    if (answers) this.#agreed()
    else
      for (const [, kind] of description.sdp?.matchAll(/^m=(\w+) [1-9]/gm) ?? [])
        this.sections.push(new FakeTransceiver(kind!, 'recvonly', null, () => this.#turn()))
    for (const [index, section] of this.sections.entries()) section.mid = String(index)
  }

  /** Statistics of the connection. */
  readonly stats = new Map<string, object>()

  async getStats(): Promise<ReadonlyMap<string, object>> {
    if (this.closed) throw new DOMException('closed', 'InvalidStateError')
    return new Map(this.stats)
  }

  close(): void {
    this.closed = true
  }

  /** Changes the connection's state. */
  become(state: string): void {
    this.connectionState = state
    this.onconnectionstatechange?.()
  }

  /** Simulates the arrival of the far side's track of a kind. */
  arrives(kind: string): FakeTrack {
    const track = this.sections.find((section) => section.kind === kind)?.receiver.track
    if (!track) throw new Error(`nothing was agreed upon for ${kind}`)
    this.ontrack?.({ track })
    return track
  }

  // As in browsers: a closed connection rejects new operations, and pending ones never settle.
  async #turn(): Promise<void> {
    if (this.closed) throw new DOMException('closed', 'InvalidStateError')
    await this.busy
    if (this.closed) await new Promise(() => {})
  }

  #agreed(): void {
    this.signalingState = 'stable'
    for (const section of this.sections) {
      const refused = this.refused[section.kind]
      if (refused === 'stopped') section.stop()
      section.currentDirection = refused ?? section.direction
    }
  }
}
