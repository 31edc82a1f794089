import type { types } from 'mediasoup'
import type {
  AudioCodec,
  BrowserMedia,
  BrowserScreen,
  BrowserVideo,
  Edge,
  MediaPort,
  WebRtc,
} from '../types.ts'
import { addressing } from './announce.ts'
import { BrowserSession } from './browser-session.ts'
import { WebRtcError } from './errors.ts'
import { Relay } from './relay.ts'
import { type AudioFormat, ownFormat, planAnswer, planScreen } from './sdp/negotiate.ts'
import { readSdp } from './sdp/read.ts'
import { sends } from './sdp/session.ts'
import { Session } from './session.ts'
import { SessionVideo } from './video/session-video.ts'
import { WorkerKeeper } from './worker.ts'

/** How {@link createWebRtc} is set up. */
export interface WebRtcOptions {
  readonly edge: Pick<Edge, 'open'>
  /** Local address; 0.0.0.0 for all. */
  readonly bind: string
  /** Addresses for candidates; empty: `bind`, or every IPv4 address of the machine when that is 0.0.0.0. */
  readonly announce: readonly string[]
  /** UDP and TCP port for all browsers; the second worker takes the next one, and so on. */
  readonly port: number
  /** mediasoup processes; default 1. Plan one per 350 calls. */
  readonly workers?: number
  /** What the mediasoup processes log; default `error`. */
  readonly logLevel?: types.WorkerLogLevel
  /**
   * Ports on 127.0.0.1 between mediasoup and the edge, and between parts of mediasoup that show two browsers each other, inclusive; default
   * 30000 to 39999. An audio takes one, and video between browsers with other numbers or in other processes four.
   */
  readonly relayPorts?: { readonly from: number; readonly to: number }
  /** Path of the mediasoup-worker program; default mediasoup's own choice. */
  readonly program?: string
}

/** {@link WebRtc} with what only its owner needs. */
export interface WebRtcService extends WebRtc {
  /** Tells of each mediasoup process that died. Its sessions have gone to `failed` before; a new process is started. */
  onFailure(listener: (reason: Error) => void): void
}

/**
 * Starts the mediasoup processes. Rejects, with nothing left running, when one does not start: the program is missing, or the
 * port is in use.
 */
export const createWebRtc = async (options: WebRtcOptions): Promise<WebRtcService> => {
  const service = new Service(options)
  await service.start()
  return service
}

class Service implements WebRtcService {
  readonly #edge: Pick<Edge, 'open'>
  readonly #keepers: readonly WorkerKeeper[]
  #onFailure: ((reason: Error) => void) | undefined

  constructor(options: WebRtcOptions) {
    const { workers = 1, logLevel = 'error', relayPorts = { from: 30_000, to: 39_999 } } = options
    this.#edge = options.edge
    const { listen, addresses } = addressing(options.bind, options.announce)
    this.#keepers = Array.from({ length: workers }, (_, index) => {
      const port = options.port + index
      const settings = { listen, addresses, port, relayPorts, logLevel, program: options.program }
      return new WorkerKeeper(settings, (reason) => this.#onFailure?.(reason))
    })
  }

  get transports(): number {
    return this.#keepers.reduce((sum, keeper) => sum + keeper.transports, 0)
  }

  async start(): Promise<void> {
    try {
      await Promise.all(this.#keepers.map((keeper) => keeper.start()))
    } catch (error) {
      await this.close()
      throw error
    }
  }

  onFailure(listener: (reason: Error) => void): void {
    this.#onFailure = listener
  }

  async answer(
    group: string,
    offer: string,
    codecs: readonly AudioCodec[],
    { video = true } = {},
  ): Promise<BrowserMedia> {
    // Read before anything is opened: most refusals cost nothing.
    const plans = planAnswer(readSdp(offer, 'offer'), codecs, video)
    const audio = plans.find((plan) => plan.kind === 'audio')
    if (!audio) throw new WebRtcError('bad_sdp', 'SDP, session: an audio m-line expected')
    return this.#build(group, audio.audio, (session) => session.answer(plans), video)
  }

  offer(group: string, codec: AudioCodec, { video = false } = {}): Promise<BrowserMedia> {
    return this.#build(group, ownFormat(codec), (session) => session.offer(video))
  }

  async screen(_group: string, offer: string): Promise<BrowserScreen> {
    const plans = planScreen(readSdp(offer, 'offer'))
    if (!plans.some((plan) => plan.kind === 'video' && plan.used && sends(plan.section.direction)))
      throw new WebRtcError('bad_sdp', 'SDP, session: video that is sent expected')
    const session = new Session({ worker: await this.#idlest().get(), plan: planScreen })
    try {
      await session.answer(plans)
      return session
    } catch (error) {
      await session.close()
      throw error
    }
  }

  joinVideo(a: BrowserVideo, b: BrowserVideo, onFault: (fault: Error) => void = () => {}): { close(): void } {
    const [one, other] = [a, b].map(known) as [SessionVideo, SessionVideo]
    const partings = [one.watch(other, onFault), other.watch(one, onFault)]
    return {
      close: () => {
        for (const part of partings.splice(0)) part()
      },
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#keepers.map((keeper) => keeper.close()))
  }

  /** The worker with the fewest transports. */
  #idlest(): WorkerKeeper {
    const [first, ...others] = this.#keepers
    if (!first) throw new WebRtcError('closed', 'WebRTC has no worker')
    return others.reduce((best, keeper) => (keeper.transports < best.transports ? keeper : best), first)
  }

  async #build(
    group: string,
    format: AudioFormat,
    negotiate: (session: BrowserSession) => Promise<void>,
    takesVideo = true,
  ): Promise<BrowserMedia> {
    const worker = await this.#idlest().get()
    const port = await this.#edge.open({ group, kind: 'loopback' })
    let undo: () => Promise<unknown> = () => closePort(port)
    try {
      const relay = await Relay.open(worker, port, format)
      const session = new BrowserSession({ worker, port, relay, format: relay.format, takesVideo })
      undo = () => Promise.all([session.close(), closePort(port)])
      await negotiate(session)
      return session
    } catch (error) {
      await undo()
      throw error
    }
  }
}

// What went wrong first is what the caller has to hear.
const closePort = (port: MediaPort): Promise<unknown> => port.close().catch(() => undefined)

const known = (video: BrowserVideo): SessionVideo => {
  if (video instanceof SessionVideo) return video
  throw new TypeError('video of this WebRtc expected')
}
