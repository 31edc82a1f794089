import type { Clock, Timer } from '../clock.ts'
import type { Environment, PeerConnection, Socket, SocketListener } from '../environment.ts'
import type { Json } from '../frames.ts'

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  #now = 1_700_000_000_000
  #due: { at: number; run: () => void }[] = []

  get running(): number {
    return this.#due.length
  }

  now(): number {
    return this.#now
  }

  after(ms: number, run: () => void): Timer {
    const entry = { at: this.#now + ms, run }
    this.#due.push(entry)
    return {
      cancel: () => {
        this.#due = this.#due.filter((other) => other !== entry)
      },
    }
  }

  advance(ms: number): void {
    const end = this.#now + ms
    for (;;) {
      const next = this.#due.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (!next) break
      this.#due = this.#due.filter((other) => other !== next)
      this.#now = next.at
      next.run()
    }
    this.#now = end
  }
}

/** Lets every promise that can settle do so. */
export const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve()
}

/** The server's end of one WebSocket. */
export class FakeSocket implements Socket {
  readonly url: string
  readonly sent: Json[] = []
  closed = false
  #listener: SocketListener

  constructor(url: string, listener: SocketListener) {
    this.url = url
    this.#listener = listener
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text))
  }

  close(): void {
    this.closed = true
  }

  open(): void {
    this.#listener.opened()
  }

  /** The network closes the socket. */
  drop(): void {
    this.closed = true
    this.#listener.closed()
  }

  push(frame: Json): void {
    this.#listener.received(JSON.stringify(frame))
  }

  raw(data: unknown): void {
    this.#listener.received(data)
  }

  event(event_type: string, params: Json, node_id = 'n1'): void {
    this.push({
      jsonrpc: '2.0',
      id: crypto.randomUUID(),
      method: 'signalwire.event',
      params: { event_type, node_id, params },
    })
  }

  verto(method: string, params: Json): void {
    this.event('webrtc.message', { jsonrpc: '2.0', id: 7, method, params })
  }

  /** The requests of a method; verto requests go by the name of the verto message. */
  requests(method: string): { id: string; params: Record<string, never>; message: Json }[] {
    return this.sent
      .filter((frame) => frame.method === method || vertoOf(frame)?.method === method)
      .map((frame) => ({
        id: frame.id as string,
        params: frame.params as Record<string, never>,
        message: vertoOf(frame) ?? {},
      }))
  }

  /** Answers the last request of a method. */
  reply(method: string, result: Json = {}): void {
    this.push({ jsonrpc: '2.0', id: this.requests(method).at(-1)?.id, result })
  }

  refuse(method: string, code: number, message: string): void {
    this.push({ jsonrpc: '2.0', id: this.requests(method).at(-1)?.id, error: { code, message } })
  }

  /** Opens and takes the handshake. */
  welcome(protocol = 'signalwire_j_1_p', extra: Json = {}): void {
    this.open()
    this.reply('signalwire.connect', {
      authorization: { jti: 'j', project_id: 'p', fabric_subscriber: { expires_at: 1_700_003_600 } },
      protocol,
      ...extra,
    })
  }
}

const vertoOf = (frame: Json): Json | undefined => (frame.params as { message?: Json } | undefined)?.message

/** A microphone track. */
export class FakeTrack {
  readonly kind: string
  enabled = true
  stopped = false

  constructor(kind: string) {
    this.kind = kind
  }

  stop(): void {
    this.stopped = true
  }
}

/** A stream of fake tracks. */
export class FakeStream {
  readonly tracks: FakeTrack[]

  constructor(tracks: FakeTrack[] = []) {
    this.tracks = tracks
  }

  addTrack(track: FakeTrack): void {
    this.tracks.push(track)
  }

  getTracks(): FakeTrack[] {
    return this.tracks
  }

  getAudioTracks(): FakeTrack[] {
    return this.tracks.filter(({ kind }) => kind === 'audio')
  }

  getVideoTracks(): FakeTrack[] {
    return this.tracks.filter(({ kind }) => kind === 'video')
  }
}

/** A peer connection whose gathering is complete at once. */
export class FakePeer {
  readonly configuration: RTCConfiguration
  readonly remote: RTCSessionDescriptionInit[] = []
  localDescription: RTCSessionDescriptionInit | null = null
  iceGatheringState = 'complete'
  connectionState = 'new'
  closed = false
  tracks: FakeTrack[] = []
  transceivers: string[] = []
  offers: (RTCOfferOptions | undefined)[] = []
  onicecandidate: ((event: { candidate: object | null }) => void) | null = null
  onicegatheringstatechange: (() => void) | null = null
  onconnectionstatechange: (() => void) | null = null
  ontrack: ((event: { track: FakeTrack }) => void) | null = null

  constructor(configuration: RTCConfiguration) {
    this.configuration = configuration
  }

  addTrack(track: FakeTrack): void {
    this.tracks.push(track)
  }

  addTransceiver(kind: string, init: { direction: string }): void {
    this.transceivers.push(`${kind} ${init.direction}`)
  }

  async createOffer(options?: RTCOfferOptions): Promise<RTCSessionDescriptionInit> {
    this.offers.push(options)
    return { type: 'offer', sdp: `offer ${this.offers.length}` }
  }

  async createAnswer(): Promise<RTCSessionDescriptionInit> {
    return { type: 'answer', sdp: 'answer' }
  }

  async setLocalDescription(description: RTCSessionDescriptionInit): Promise<void> {
    this.localDescription = description
  }

  async setRemoteDescription(description: RTCSessionDescriptionInit): Promise<void> {
    if (description.sdp === 'broken') throw new Error('cannot parse')
    this.remote.push(description)
  }

  close(): void {
    this.closed = true
  }

  /** The connection's state changes. */
  become(state: string): void {
    this.connectionState = state
    this.onconnectionstatechange?.()
  }
}

/** A browser without a browser. */
export class FakeBrowser {
  readonly clock = new FakeClock()
  readonly sockets: FakeSocket[] = []
  readonly peers: FakePeer[] = []
  readonly microphones: FakeStream[] = []
  readonly players: { kind: string; srcObject: unknown; removed: boolean }[] = []
  readonly requested: MediaStreamConstraints[] = []
  readonly fetched: { url: string; method: string; headers: Record<string, string>; body: unknown }[] = []
  /** What the tab keeps over reloads. */
  readonly kept = new Map<string, string>()
  /** The tab can keep nothing more. */
  full = false
  microphone: () => Promise<FakeStream> = async () => new FakeStream([new FakeTrack('audio')])
  response: () => Response = () => new Response('{}')
  #ids = 0

  get socket(): FakeSocket {
    return this.sockets.at(-1)!
  }

  get peer(): FakePeer {
    return this.peers.at(-1)!
  }

  get environment(): Environment {
    return {
      clock: this.clock,
      page: { protocol: 'http:', host: 'localhost:8080' },
      writer: { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} },
      uuid: () => `id-${++this.#ids}`,
      random: () => 0.5,
      openSocket: (url, listener) => {
        const socket = new FakeSocket(url, listener)
        this.sockets.push(socket)
        return socket
      },
      createPeer: (configuration) => {
        const peer = new FakePeer(configuration)
        this.peers.push(peer)
        return peer as unknown as PeerConnection
      },
      getUserMedia: async (constraints) => {
        this.requested.push(constraints)
        const stream = await this.microphone()
        this.microphones.push(stream)
        return stream as unknown as MediaStream
      },
      createStream: () => new FakeStream() as unknown as MediaStream,
      fetch: async (input, init) => {
        const { method = 'GET', headers, body } = init ?? {}
        this.fetched.push({
          ...{ url: String(input), method, headers: headers as Record<string, string> },
          body: typeof body === 'string' ? JSON.parse(body) : undefined,
        })
        return this.response()
      },
      storage: {
        getItem: (key) => this.kept.get(key) ?? null,
        setItem: (key, value) => {
          if (this.full) throw new DOMException('full', 'QuotaExceededError')
          this.kept.set(key, value)
        },
        removeItem: (key) => void this.kept.delete(key),
      },
      createPlayer: (kind) => {
        const player = {
          kind,
          srcObject: null,
          removed: false,
          play: async () => {},
          remove() {
            this.removed = true
          },
        }
        this.players.push(player)
        return player as unknown as HTMLMediaElement
      },
    }
  }
}
