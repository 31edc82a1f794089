import type { Environment, PageWatcher, PeerConnection } from '../environment.ts'
import { FakeClock } from './fake-clock.ts'
import { FakePlayer, FakeStream, FakeTrack } from './fake-media.ts'
import { FakePeer } from './fake-peer.ts'
import { FakeSocket } from './fake-socket.ts'

export { FakeClock, settled } from './fake-clock.ts'
export { FakeStream, FakeTrack } from './fake-media.ts'
export { FakePeer } from './fake-peer.ts'

/** Fake of the browser's environment. */
export class FakeBrowser {
  readonly clock = new FakeClock()
  readonly sockets: FakeSocket[] = []
  readonly peers: FakePeer[] = []
  readonly microphones: FakeStream[] = []
  readonly players: FakePlayer[] = []
  /** Parents of the players. */
  readonly roots: (HTMLElement | undefined)[] = []
  readonly screens: FakeStream[] = []
  readonly watchers = new Set<PageWatcher>()
  /** Levels of the meters that are open, by the stream. */
  readonly meters = new Map<unknown, number>()
  readonly requested: MediaStreamConstraints[] = []
  readonly fetched: { url: string; method: string; headers: Record<string, string>; body: unknown }[] = []
  /** Storage of the tab, kept across reloads. */
  readonly kept = new Map<string, string>()
  /** Names that pages of this browser have claimed. */
  claims = new Set<string>()
  /** Whether the tab's storage is full. */
  full = false
  microphone: (constraints: MediaStreamConstraints) => Promise<FakeStream> = async ({ audio, video }) =>
    new FakeStream([...tracks('audio', audio), ...tracks('video', video)])
  screen: () => Promise<FakeStream> = async () => new FakeStream([new FakeTrack('video', 'screen-1')])
  response: () => Response | Promise<Response> = () => new Response('{}')
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
        const stream = await this.microphone(constraints)
        this.microphones.push(stream)
        return stream as unknown as MediaStream
      },
      getDisplayMedia: async (constraints) => {
        this.requested.push(constraints)
        const stream = await this.screen()
        this.screens.push(stream)
        return stream as unknown as MediaStream
      },
      createStream: () => new FakeStream() as unknown as MediaStream,
      createMeter: (stream) => {
        this.meters.set(stream, 0.25)
        return { level: () => this.meters.get(stream) ?? 0, close: () => void this.meters.delete(stream) }
      },
      watch: (watcher) => {
        this.watchers.add(watcher)
        return () => void this.watchers.delete(watcher)
      },
      fetch: async (input, init) => {
        const { method = 'GET', headers, body } = init ?? {}
        this.fetched.push({
          url: String(input),
          method,
          headers: headers as Record<string, string>,
          body: typeof body === 'string' ? JSON.parse(body) : undefined,
        })
        const aborted = new Promise<never>((_, reject) => {
          init?.signal?.addEventListener('abort', () => reject(init.signal?.reason))
        })
        return Promise.race([this.response(), aborted])
      },
      storage: {
        getItem: (key) => this.kept.get(key) ?? null,
        setItem: (key, value) => {
          if (this.full) throw new DOMException('full', 'QuotaExceededError')
          this.kept.set(key, value)
        },
        removeItem: (key) => void this.kept.delete(key),
      },
      claim: async (name) => {
        if (this.claims.has(name)) return undefined
        this.claims.add(name)
        return () => void this.claims.delete(name)
      },
      createPlayer: (kind, root) => {
        this.roots.push(root)
        const player = new FakePlayer(kind)
        this.players.push(player)
        return player as unknown as HTMLMediaElement
      },
    }
  }

  /** Simulates the end of the page; the tab's storage stays. */
  unloaded(): void {
    this.claims.clear()
  }

  /** Returns a duplicate of this tab. */
  duplicated(): FakeBrowser {
    const copy = new FakeBrowser()
    copy.claims = this.claims
    for (const [key, value] of this.kept) copy.kept.set(key, value)
    return copy
  }

  /** Simulates a change to another network. */
  network(): void {
    for (const watcher of this.watchers) watcher.networkChanged()
  }

  /** Simulates that the machine wakes up, or that the page becomes visible. */
  awake(): void {
    for (const watcher of this.watchers) watcher.awake()
  }

  /** The last player of a kind. */
  player(kind: string): FakePlayer | undefined {
    return this.players.filter((player) => player.kind === kind).at(-1)
  }
}

const tracks = (kind: string, wanted: boolean | MediaTrackConstraints | undefined): FakeTrack[] => {
  if (!wanted) return []
  const id = typeof wanted === 'object' ? wanted.deviceId : undefined
  const exact = typeof id === 'object' && !Array.isArray(id) ? id.exact : id
  return [new FakeTrack(kind, typeof exact === 'string' ? exact : undefined)]
}
