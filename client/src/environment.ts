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

/** Events of a {@link Socket}. `closed` is called once, also if the socket never opened. */
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
  | 'getStats'
  | 'close'
>

/** Events of the page's environment. */
export interface PageWatcher {
  /** The browser is online again, or on another network. */
  networkChanged(): void
  /** The page is visible again; the machine and its timers may have slept. */
  awake(): void
}

/**
 * Everything that the client uses of the browser. Tests pass their own, so the state machines run without a
 * DOM.
 */
export interface Environment {
  readonly clock: Clock
  readonly page: Page | undefined
  readonly writer: Writer
  /** Returns a random UUID (version 4). */
  readonly uuid: () => string
  /** See `Math.random`. */
  readonly random: () => number
  /** Opens a WebSocket. Throws if the browser does not let the page open the URL. */
  readonly openSocket: (url: string, listener: SocketListener) => Socket
  readonly createPeer: (configuration: RTCConfiguration) => PeerConnection
  /** See `navigator.mediaDevices.getUserMedia`. */
  readonly getUserMedia: (constraints: MediaStreamConstraints) => Promise<MediaStream>
  /** See `navigator.mediaDevices.getDisplayMedia`. */
  readonly getDisplayMedia: (constraints: DisplayMediaStreamOptions) => Promise<MediaStream>
  readonly createStream: () => MediaStream
  /** Creates a level meter for a stream with audio. */
  readonly createMeter: (stream: MediaStream) => LevelMeter
  /** Reports changes of the page's environment until the returned function is called. */
  readonly watch: (watcher: PageWatcher) => () => void
  readonly fetch: typeof fetch
  /** Storage that lives as long as the tab, across reloads; undefined if the browser offers none. */
  readonly storage: TabStorage | undefined
  /**
   * Claims a name that only one page of the browser can hold, until the page ends or releases it.
   * Resolves with undefined if another page holds the name. Browsers without locks grant every name.
   */
  readonly claim: (name: string) => Promise<(() => void) | undefined>
  /** Creates the element that plays a call, inside `root` or in the page's body. */
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
  // Chromium also fires this event for each new estimate of the speed of the same network.
  const retyped = () => {
    if (type === network?.type) return
    type = network?.type
    networkChanged()
  }
  const onVisibility = () => {
    if (document.visibilityState === 'visible') awake()
  }
  const listening: readonly [EventTarget | undefined, string, () => void][] = [
    [window, 'online', networkChanged],
    [network, 'change', retyped],
    [document, 'visibilitychange', onVisibility],
    [window, 'pageshow', awake],
  ]
  for (const [target, name, listener] of listening) target?.addEventListener(name, listener)
  return () => {
    for (const [target, name, listener] of listening) target?.removeEventListener(name, listener)
  }
}

// After a reload, the previous page may still be unloading.
const claimMs = 3000

const claim: Environment['claim'] = (name) =>
  new Promise((resolve) => {
    const kept = Promise.withResolvers<void>()
    const release = () => kept.resolve()
    // Pages without TLS have no locks.
    if (typeof navigator === 'undefined' || !navigator.locks) return resolve(release)
    const take = () => {
      resolve(release)
      return kept.promise
    }
    const signal = AbortSignal.timeout(claimMs)
    // Frames without storage access are refused locks.
    navigator.locks.request(name, { signal }, take).catch(() => resolve(signal.aborted ? undefined : release))
  })

// Reading the property throws in a frame without storage access.
const tabStorage = (): TabStorage | undefined => {
  try {
    return sessionStorage
  } catch {
    return undefined
  }
}

/** Returns the environment of the browser in which the page runs. */
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
