import type { StreamEnd, StreamOptions } from '../../handlers/verbs.ts'
import type { Edge, MediaPort, PcmRate, Tap } from '../../media/types.ts'
import type { AudioStream, StreamSource } from '../calls/verbs/call-streams.ts'
import type { StreamTarget } from './stream-target.ts'

/** What a stream to an RTP address works with. */
export interface RtpStreamDeps {
  readonly id: string
  readonly edge: Pick<Edge, 'open'>
  readonly source: StreamSource
  readonly target: Extract<StreamTarget, { kind: 'rtp' }>
  readonly options: StreamOptions
  /** The address of the target's host, of that family; rejects where there is none that is permitted. */
  readonly resolve: (host: string, family: 4 | 6) => Promise<string>
  /** Called once, when its port is closed. */
  readonly onClosed: () => void
}

/** Of the codecs that an RTP address can have. */
const sampleRate: PcmRate = 8000
const payloadTypes = { PCMU: 0, PCMA: 8 } as const

/**
 * One leg's audio over RTP: a port of the edge of its own, whose far end is the address. Taps carry the audio between the two ports. What
 * is both said and heard is added up. What comes back has to come from that address (any port of it).
 */
export class RtpStream implements AudioStream {
  readonly id: string
  readonly ended: Promise<StreamEnd>
  readonly #parts: RtpStreamDeps
  readonly #settle: (end: StreamEnd) => void
  #over = false
  /** The leg's. */
  #near: MediaPort
  #port: MediaPort | undefined
  /** The leg's, and that of our own port. */
  #taps: readonly [Tap, Tap] | [] = []

  constructor(parts: RtpStreamDeps) {
    this.#parts = parts
    this.id = parts.id
    this.#near = parts.source.port
    const { promise, resolve } = Promise.withResolvers<StreamEnd>()
    this.ended = promise
    this.#settle = resolve
    void this.#run()
  }

  /** Keys are not sent: they are heard where the far end hears anything of them. */
  digit(): void {}

  moveTo(port: MediaPort): void {
    this.#near = port
    this.#taps[0]?.moveTo(port)
  }

  stop(): void {
    this.#end({ kind: 'stopped' })
  }

  async #run(): Promise<void> {
    const { edge, source, onClosed } = this.#parts
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
    const { target, options } = this.#parts
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

  /** The address of the target: that of the first family of the port that it has. */
  async #addressOf(port: MediaPort): Promise<string> {
    const { target, resolve } = this.#parts
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
    const { options } = this.#parts
    const near = this.#near.tap({ tracks: tapTracks[options.tracks ?? 'inbound'], sampleRate })
    const far = port.tap({ tracks: 'in', sampleRate })
    this.#taps = [near, far]
    const sum = options.tracks === 'both' ? summing((samples) => far.speak(samples)) : undefined
    near.onFrame(({ samples, track }) => (sum ? sum(samples, track) : far.speak(samples)))
    // Silence must not take the place of what the leg would hear otherwise.
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

/** The tracks of a tap, by the names that documents have for them. */
export const tapTracks = { inbound: 'in', outbound: 'out', both: 'both' } as const

/** Adds the two tracks up, of which `in` comes first. */
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
