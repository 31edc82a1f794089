import { type Clock, systemClock } from './clock.ts'
import { ClientError } from './errors.ts'
import type { Page } from './hosts.ts'
import type { TabStorage } from './last-call.ts'
import { type LevelMeter, levels } from './levels.ts'
import type { Writer } from './log.ts'

/** The part of a WebSocket that is used. */
export interface Socket {
  send(text: string): void
  close(): void
}

/** What a {@link Socket} tells. `closed` comes once, also when the socket never opened. */
export interface SocketListener {
  opened(): void
  received(data: unknown): void
  closed(): void
}

/** The part of an RTCPeerConnection that is used. */
export type PeerConnection = Pick<
  RTCPeerConnection,
  | 'addTransceiver'
  | 'getTransceivers'
  | 'setConfiguration'
  | 'signalingState'
  | 'createOffer'
  | 'createAnswer'
  | 'setLocalDescription'
  | 'setRemoteDescription'
  | 'localDescription'
  | 'iceGatheringState'
  | 'connectionState'
  | 'onicecandidate'
  | 'onicegatheringstatechange'
  | 'onconnectionstatechange'
  | 'ontrack'
  | 'close'
>

/** What the browser tells of the page's surroundings. */
export interface PageWatcher {
  /** The browser is on a network again, or on another one. */
  networkChanged(): void
  /** The page is looked at again; the machine may have slept, and timers with it. */
  awake(): void
}

/** All that the client takes from the browser. Tests pass their own, so the state machines run without a DOM. */
export interface Environment {
  readonly clock: Clock
  readonly page: Page | undefined
  readonly writer: Writer
  /** A random id (UUID version 4). */
  readonly uuid: () => string
  /** As Math.random. */
  readonly random: () => number
  /** Throws for a URL that the browser does not let the page open. */
  readonly openSocket: (url: string, listener: SocketListener) => Socket
  readonly createPeer: (configuration: RTCConfiguration) => PeerConnection
  /** As `navigator.mediaDevices.getUserMedia`. */
  readonly getUserMedia: (constraints: MediaStreamConstraints) => Promise<MediaStream>
  /** As `navigator.mediaDevices.getDisplayMedia`. */
  readonly getDisplayMedia: (constraints: DisplayMediaStreamOptions) => Promise<MediaStream>
  readonly createStream: () => MediaStream
  /** Measures a stream that has sound. */
  readonly createMeter: (stream: MediaStream) => LevelMeter
  /** Tells of what happens to the page, until the function that it gives is called. */
  readonly watch: (told: PageWatcher) => () => void
  readonly fetch: typeof fetch
  /** Lives as long as the tab, over reloads; undefined where the browser gives none. */
  readonly storage: TabStorage | undefined
  /**
   * Takes a name that one page of the browser at a time may have, until the page is gone or gives it back. Undefined where another page keeps
   * it. Browsers that cannot tell give every name.
   */
  readonly claim: (name: string) => Promise<(() => void) | undefined>
  /** Makes the element that plays a call, inside `root` or else in the page's body. */
  readonly createPlayer: (kind: 'audio' | 'video', root: HTMLElement | undefined) => HTMLMediaElement
}

const createPlayer = (kind: 'audio' | 'video', root: HTMLElement | undefined): HTMLMediaElement => {
  const element = document.createElement(kind)
  element.autoplay = true
  if (kind === 'audio') element.hidden = true
  else element.setAttribute('playsinline', '')
  const parent = root ?? document.body
  parent.append(element)
  return element
}

const openSocket = (url: string, listener: SocketListener): Socket => {
  const socket = new WebSocket(url)
  socket.onopen = () => listener.opened()
  socket.onmessage = ({ data }) => listener.received(data)
  socket.onclose = () => listener.closed()
  return socket
}

// crypto.randomUUID is missing on plain http pages that are not localhost; getRandomValues is not.
const uuid = (): string => {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID()
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  bytes[6] = (bytes[6]! & 0x0f) | 0x40
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

interface NetworkInformation extends EventTarget {
  readonly type?: string
}

const watch = ({ networkChanged, awake }: PageWatcher): (() => void) => {
  if (typeof document === 'undefined') return () => {}
  const network = (navigator as { connection?: NetworkInformation }).connection
  let type = network?.type
  // Chromium tells of every new estimate of the same network's speed too.
  const retyped = () => {
    if (type === network?.type) return
    type = network?.type
    networkChanged()
  }
  const shown = () => {
    if (document.visibilityState === 'visible') awake()
  }
  const listening: readonly [EventTarget | undefined, string, () => void][] = [
    [window, 'online', networkChanged],
    [network, 'change', retyped],
    [document, 'visibilitychange', shown],
    [window, 'pageshow', awake],
  ]
  for (const [target, name, listener] of listening) target?.addEventListener(name, listener)
  return () => {
    for (const [target, name, listener] of listening) target?.removeEventListener(name, listener)
  }
}

// The page before a reload may be on its way out still.
const CLAIM_MS = 3000

const claim: Environment['claim'] = (name) =>
  new Promise((resolve) => {
    const kept = Promise.withResolvers<void>()
    const release = () => kept.resolve()
    // Pages without TLS have none.
    if (typeof navigator === 'undefined' || !navigator.locks) return resolve(release)
    const take = () => {
      resolve(release)
      return kept.promise
    }
    const signal = AbortSignal.timeout(CLAIM_MS)
    // Frames that may store nothing are refused it.
    navigator.locks.request(name, { signal }, take).catch(() => resolve(signal.aborted ? undefined : release))
  })

// Reading the property throws in a frame that may store nothing.
const tabStorage = (): TabStorage | undefined => {
  try {
    return sessionStorage
  } catch {
    return undefined
  }
}

/** The browser that the page runs in. */
export const browserEnvironment = (): Environment => ({
  clock: systemClock,
  page: typeof location === 'undefined' ? undefined : location,
  writer: console,
  uuid,
  random: Math.random,
  openSocket,
  createPeer: (configuration) => new RTCPeerConnection(configuration),
  getUserMedia: async (constraints) => {
    if (!navigator.mediaDevices?.getUserMedia)
      throw new ClientError('insecure_page', 'The browser gives no microphone to a page without TLS.')
    return navigator.mediaDevices.getUserMedia(constraints)
  },
  getDisplayMedia: async (constraints) => {
    if (!navigator.mediaDevices?.getDisplayMedia)
      throw new ClientError('unsupported', 'This browser lets no page share a screen.')
    return navigator.mediaDevices.getDisplayMedia(constraints)
  },
  createStream: () => new MediaStream(),
  createMeter: (stream) => levels(stream),
  watch,
  fetch: (...args) => fetch(...args),
  storage: tabStorage(),
  claim,
  createPlayer,
})
