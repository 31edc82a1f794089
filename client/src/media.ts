import type { Environment, PeerConnection } from './environment.ts'
import { ClientError } from './errors.ts'
import { gathered, withoutLocalNames } from './gathering.ts'
import type { Log } from './log.ts'
import type { CallOptions } from './types.ts'

/** What a call's media tells its owner. */
export interface MediaOwner {
  remoteTrack(track: MediaStreamTrack): void
  /** ICE or DTLS failed: nothing flows any more. */
  failed(): void
}

const refusals: Readonly<Record<string, 'microphone_refused' | 'microphone_missing'>> = {
  NotAllowedError: 'microphone_refused',
  SecurityError: 'microphone_refused',
  NotFoundError: 'microphone_missing',
  OverconstrainedError: 'microphone_missing',
}

const texts = {
  microphone_refused: 'The browser was not allowed to use the microphone or camera.',
  microphone_missing: 'No microphone or camera was found that fits.',
  microphone_failed: 'The microphone or camera could not be opened.',
} as const

const microphoneError = (error: unknown): ClientError => {
  if (error instanceof ClientError) return error
  const name = error instanceof Error ? error.name : ''
  const code = refusals[name] ?? 'microphone_failed'
  return new ClientError(code, texts[code], { cause: error })
}

const withoutUdp = (servers: readonly RTCIceServer[]): RTCIceServer[] =>
  servers
    .map((server) => ({
      ...server,
      urls: [server.urls].flat().filter((url) => !url.includes('transport=udp')),
    }))
    .filter((server) => server.urls.length > 0)

/** The microphone, the peer connection and the players of one call. {@link close} releases all of it. */
export class CallMedia {
  /** What the far side sends. Its tracks come and go; the object stays. */
  readonly remote: MediaStream
  readonly #environment: Environment
  readonly #log: Log
  readonly #options: CallOptions
  readonly #owner: MediaOwner
  #local: MediaStream | undefined
  #peer: PeerConnection | undefined
  #players = new Map<string, HTMLMediaElement>()
  #closed = false
  #applied: string | undefined

  constructor(environment: Environment, log: Log, options: CallOptions, owner: MediaOwner) {
    this.#environment = environment
    this.#log = log
    this.#options = options
    this.#owner = owner
    this.remote = environment.createStream()
  }

  /** The microphone and camera; undefined before they are open, and for a call that sends nothing. */
  get local(): MediaStream | undefined {
    return this.#local
  }

  /** Opens the microphone. Rejects with one of the `microphone_…` codes, `insecure_page`, or `canceled` when closed meanwhile. */
  async open(): Promise<void> {
    const { audio = true, video = false } = this.#options
    if (this.#local || (!audio && !video)) return
    let stream: MediaStream
    try {
      stream = await this.#environment.getUserMedia({ audio, video })
    } catch (error) {
      throw microphoneError(error)
    }
    if (this.#closed) {
      for (const track of stream.getTracks()) track.stop()
      throw new ClientError('canceled', 'The call ended before the microphone was open.')
    }
    this.#local = stream
  }

  /** Makes the offer of a new call. */
  async offer(iceServers: readonly RTCIceServer[]): Promise<string> {
    const peer = this.#connect(iceServers)
    this.#addTracks(peer)
    // A listen-only call still needs an audio section for the far side's voice.
    if (!this.#local?.getAudioTracks().length) peer.addTransceiver('audio', { direction: 'recvonly' })
    return this.#describe(peer, await peer.createOffer())
  }

  /** Answers an offer. */
  async answer(offer: string, iceServers: readonly RTCIceServer[]): Promise<string> {
    const peer = this.#connect(iceServers)
    await peer.setRemoteDescription({ type: 'offer', sdp: offer })
    this.#addTracks(peer)
    return this.#describe(peer, await peer.createAnswer())
  }

  /** Makes an offer with new ICE credentials for a call whose path broke. */
  async restart(): Promise<string> {
    const peer = this.#require()
    return this.#describe(peer, await peer.createOffer({ iceRestart: true }))
  }

  /** Takes the answer to our last offer. The same answer again is ignored: an answer may follow as early media and at pick-up. */
  async accept(answer: string): Promise<void> {
    if (this.#applied === answer) return
    this.#applied = answer
    await this.#require().setRemoteDescription({ type: 'answer', sdp: answer })
  }

  /** Lets tracks of a kind through, or sends silence (black) in their place. */
  send(kind: 'audio' | 'video', on: boolean): void {
    const tracks = kind === 'audio' ? this.#local?.getAudioTracks() : this.#local?.getVideoTracks()
    for (const track of tracks ?? []) track.enabled = on
  }

  /** Releases microphone, connection and players. Idempotent. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    for (const track of this.#local?.getTracks() ?? []) track.stop()
    if (this.#peer) {
      this.#peer.ontrack = this.#peer.onconnectionstatechange = null
      this.#peer.close()
    }
    for (const player of this.#players.values()) {
      player.srcObject = null
      player.remove()
    }
    this.#players.clear()
  }

  #require(): PeerConnection {
    if (!this.#peer || this.#closed) throw new ClientError('bad_state', 'The call has no media connection.')
    return this.#peer
  }

  #connect(iceServers: readonly RTCIceServer[]): PeerConnection {
    if (this.#closed) throw new ClientError('canceled', 'The call ended before its media was set up.')
    const servers = this.#options.disableUdpIceServers ? withoutUdp(iceServers) : [...iceServers]
    const peer = this.#environment.createPeer({ bundlePolicy: 'max-compat', iceServers: servers })
    this.#peer = peer
    peer.ontrack = ({ track }) => this.#play(track)
    peer.onconnectionstatechange = () => {
      if (peer.connectionState === 'failed') this.#owner.failed()
    }
    return peer
  }

  #addTracks(peer: PeerConnection): void {
    const local = this.#local
    for (const track of local?.getTracks() ?? []) peer.addTrack(track, local!)
  }

  async #describe(peer: PeerConnection, description: RTCSessionDescriptionInit): Promise<string> {
    await peer.setLocalDescription(description)
    await gathered(peer, this.#environment.clock)
    if (this.#closed) throw new ClientError('canceled', 'The call ended before its media was set up.')
    return withoutLocalNames(peer.localDescription?.sdp ?? '')
  }

  #play(track: MediaStreamTrack): void {
    if (this.#closed) return
    this.remote.addTrack(track)
    const kind = track.kind === 'video' ? 'video' : 'audio'
    // Pictures are shown only where the application gave a place for them; sound is always played.
    if (!this.#players.has(kind) && (kind === 'audio' || this.#options.rootElement)) {
      const player = this.#environment.createPlayer(kind, this.#options.rootElement)
      this.#players.set(kind, player)
      // One stream per player: the video element must not play the sound a second time.
      const stream = this.#environment.createStream()
      stream.addTrack(track)
      player.srcObject = stream
      player.play().catch((error: unknown) => this.#log.warn('the browser does not play the call', error))
    }
    this.#owner.remoteTrack(track)
  }
}
