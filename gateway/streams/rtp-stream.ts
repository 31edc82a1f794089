import type { StreamEnd, StreamOptions } from '../../handlers/verbs.ts'
import type { Edge, MediaPort, PcmRate, Tap } from '../../media/types.ts'
import type { AudioStream, StreamSource } from '../calls/verbs/call-streams.ts'
import type { StreamTarget } from './stream-target.ts'

/** Collaborators and values of an {@link RtpStream}. */
export interface RtpStreamDeps {
  readonly id: string
  readonly edge: Pick<Edge, 'open'>
  readonly source: StreamSource
  readonly target: Extract<StreamTarget, { kind: 'rtp' }>
  readonly options: StreamOptions
  /** Resolves a host to a permitted address of the family. Rejects if the host has none. */
  readonly resolve: (host: string, family: 4 | 6) => Promise<string>
  /** Called once, when the port of the stream is closed. */
  readonly onClosed: () => void
}

/** Sample rate of the codecs. */
const sampleRate: PcmRate = 8000
const payloadTypes = { PCMU: 0, PCMA: 8 } as const

/**
 * Stream of one leg's audio over RTP, through a separate media port that sends to the target. Taps carry the
 * audio between that port and the leg's port. If both tracks are streamed, they are mixed. Incoming audio
 * must come from the target's address, at any port.
 */
export class RtpStream implements AudioStream {
  readonly id: string
  readonly ended: Promise<StreamEnd>
  readonly #deps: RtpStreamDeps
  readonly #settle: (end: StreamEnd) => void
  #over = false
  /** Media port of the leg. */
  #near: MediaPort
  #port: MediaPort | undefined
  /** Taps of the leg's port and of the stream's own port. */
  #taps: readonly [Tap, Tap] | [] = []

  constructor(deps: RtpStreamDeps) {
    this.#deps = deps
    this.id = deps.id
    this.#near = deps.source.port
    const { promise, resolve } = Promise.withResolvers<StreamEnd>()
    this.ended = promise
    this.#settle = resolve
    void this.#run()
  }

  /** Sends no digits: the far end hears them in the audio. */
  digit(): void {}

  moveTo(port: MediaPort): void {
    this.#near = port
    this.#taps[0]?.moveTo(port)
  }

  stop(): void {
    this.#end({ kind: 'stopped' })
  }

  async #run(): Promise<void> {
    const { edge, source, onClosed } = this.#deps
    try {
      this.#port = await edge.open({ group: source.port.group, kind: 'carrier' })
      if (!this.#over) await this.#connect(this.#port)
      await this.ended
    } catch (error) {
      this.#end({ kind: 'failed', reason: (error as Error).message })
    }
    await this.#port?.close()
    onClosed()
  }

  async #connect(port: MediaPort): Promise<void> {
    const { target, options } = this.#deps
    const address = await this.#addressOf(port)
    if (this.#over) return
    const payloadType = payloadTypes[target.codec]
    const { codec, ptime } = target
    port.setFar(
      { codecs: [{ codec, payloadType }] },
      {
        address,
        port: target.port,
        codec,
        payloadType,
        ptime,
        direction: options.bidirectional ? 'sendrecv' : 'sendonly',
      },
    )
    this.#carry(port)
  }

  /** Returns the address of the target in the first family that the port and the target share. */
  async #addressOf(port: MediaPort): Promise<string> {
    const { target, resolve } = this.#deps
    const families = ([4, 6] as const).filter((family) => port.addressFor(family) !== undefined)
    const [first = 4, second] = families
    try {
      return await resolve(target.host, first)
    } catch (error) {
      if (second === undefined) throw error
      return await resolve(target.host, second).catch(() => {
        throw error
      })
    }
  }

  #carry(port: MediaPort): void {
    const { options } = this.#deps
    const near = this.#near.tap({ tracks: tapTracks[options.tracks ?? 'inbound'], sampleRate })
    const far = port.tap({ tracks: 'in', sampleRate })
    this.#taps = [near, far]
    const sum = options.tracks === 'both' ? summing((samples) => far.speak(samples)) : undefined
    near.onFrame(({ samples, track }) => (sum ? sum(samples, track) : far.speak(samples)))
    // Only if bidirectional: otherwise silence would replace the audio that the leg hears.
    if (options.bidirectional)
      far.onFrame(({ samples }) => samples.some((sample) => sample !== 0) && near.speak(samples))
    near.onClosed(() => this.stop())
    far.onClosed(() => this.#end({ kind: 'failed', reason: 'its port was lost' }))
  }

  #end(end: StreamEnd): void {
    if (this.#over) return
    this.#over = true
    for (const tap of this.#taps) tap.close()
    this.#settle(end)
  }
}

/** Tracks of a tap, by the names of documents. */
export const tapTracks = { inbound: 'in', outbound: 'out', both: 'both' } as const

/** Mixes the two tracks; the frame of `in` arrives first. */
const summing = (give: (samples: Int16Array) => void) => {
  let before: Int16Array | undefined
  return (samples: Int16Array, track: 'in' | 'out'): void => {
    if (track === 'in') {
      before = samples
      return
    }
    const first = before
    give(samples.map((sample, i) => Math.max(-32_768, Math.min(32_767, sample + (first?.[i] ?? 0)))))
  }
}
