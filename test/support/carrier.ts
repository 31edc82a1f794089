import { onTestFinished } from 'vitest'
import type { G711 } from '../../media/codecs/g711.ts'
import type { Gateway } from './gateway.ts'
import { digitsOf, levels, shares } from './hearing.ts'
import { RtpPeer } from './rtp-peer.ts'
import { headerOf } from './sip-text.ts'
import { Sipp, type SippValue } from './sipp.ts'
import { until } from './until.ts'

/** Options of every call at the carrier. */
interface CarrierOptions {
  readonly scenario: string
  readonly transport?: 'udp' | 'tcp'
  /** Local SIP port; default a free one. */
  readonly port?: number
  /** Local SIP address; default 127.0.0.1. */
  readonly address?: string
  /** Local address of the audio; default 127.0.0.1. */
  readonly mediaAddress?: string
  /** Offered or answered codec; default PCMU. */
  readonly codec?: G711
  /** Further values for the scenario file. */
  readonly values?: Readonly<Record<string, SippValue>>
  /** Time before the scenario's next step, as {@link SippOptions.holdMs}. */
  readonly holdMs?: number | 'manual'
  /** As {@link SippOptions.timeoutMs}. */
  readonly timeoutMs?: number
  /** Number of calls before SIPp ends; default 1. */
  readonly count?: number
}

/** A call from the carrier. */
export interface IncomingOptions extends CarrierOptions {
  /** Host part of the request-URI. */
  readonly domain: string
  /** User part; default `+15550002222`. */
  readonly user?: string
}

const codecLines: Readonly<Record<G711, { payloads: string; codecs: string }>> = {
  PCMU: {
    payloads: '0 101',
    codecs: 'a=rtpmap:0 PCMU/8000\na=rtpmap:101 telephone-event/8000\na=fmtp:101 0-15',
  },
  PCMA: {
    payloads: '8 101',
    codecs: 'a=rtpmap:8 PCMA/8000\na=rtpmap:101 telephone-event/8000\na=fmtp:101 0-15',
  },
}

/** Returns the connection line for an address. */
const connectionOf = ({ address }: RtpPeer): { readonly net: string; readonly host: string } => ({
  net: address.includes(':') ? 'IP6' : 'IP4',
  host: address,
})

/**
 * One call at the carrier: SIPp for signalling, and a socket that sends and measures the audio. Ends with its
 * test.
 */
export class Carrier {
  readonly sipp: Sipp
  readonly media: RtpPeer
  readonly #host: string

  constructor(sipp: Sipp, media: RtpPeer, address = '127.0.0.1') {
    this.sipp = sipp
    this.#host = address.includes(':') ? `[${address}]` : address
    this.media = media
    onTestFinished(async () => {
      media.close()
      await sipp.stop()
    })
  }

  /** Calls into the gateway. */
  static async calls(gateway: Gateway, options: IncomingOptions): Promise<Carrier> {
    const { domain, user = '+15550002222', codec = 'PCMU' } = options
    const media = await RtpPeer.open(codec, options.mediaAddress)
    const values = { ...codecLines[codec], ...connectionOf(media), user, domain, ...options.values }
    const to = `${options.address === '::1' ? '[::1]' : '127.0.0.1'}:${gateway.sipPort}`
    const sipp = await Sipp.start({ ...options, values, to, mediaPorts: [media.port] })
    return new Carrier(sipp, media)
  }

  /** Waits for a call from the gateway. */
  static async listens(options: CarrierOptions): Promise<Carrier> {
    const codec = options.codec ?? 'PCMU'
    const media = await RtpPeer.open(codec, options.mediaAddress)
    const values = { ...codecLines[codec], ...connectionOf(media), ...options.values }
    const mediaPorts = Array.from({ length: options.count ?? 1 }, () => media.port)
    return new Carrier(await Sipp.start({ ...options, values, mediaPorts }), media, options.address)
  }

  /** URI of a listening carrier. */
  get uri(): string {
    return `sip:desk@${this.#host}:${this.sipp.port}`
  }

  /** Call-ID of the first call; undefined before that. */
  get callId(): string | undefined {
    const first = this.sipp.sent('INVITE')[0] ?? this.sipp.received('INVITE')[0] ?? ''
    return headerOf(first, 'Call-ID')
  }

  /**
   * Waits for the event with the gateway's media port (`answered`, `early` or `invited`), and sends the tone
   * to that port.
   */
  async talks(event: 'answered' | 'early' | 'invited', frequency: number): Promise<void> {
    this.media.send(await this.sipp.event(event), frequency)
  }

  /** Waits until only this tone was received for `ms`. */
  async hears(frequency: number, ms = 300): Promise<void> {
    const recent = (): number[] => shares(this.media.packets.slice(-Math.ceil(ms / 20)), frequency)
    await until(
      `the carrier hears ${frequency} Hz for ${ms} ms`,
      recent,
      (parts) => parts.length >= Math.floor(ms / 100) && parts.every((share) => share > 0.7),
    )
  }

  /** Waits until only silence, or no packet, was received for `ms`. */
  async hearsNothing(ms = 500): Promise<void> {
    const recent = (): number[] =>
      levels(this.media.packets.filter(({ at }) => at > performance.now() - ms)).map(Math.round)
    await until(`the carrier hears nothing for ${ms} ms`, recent, (heard) =>
      heard.every((level) => level < 100),
    )
  }

  /** Waits for a voice: sound that is neither silence nor a steady tone. */
  async hearsVoice(): Promise<void> {
    const loud = (): number => levels(this.media.packets).filter((level) => level > 300).length
    await until('the carrier hears a voice', loud, (windows) => windows >= 8)
  }

  /** Waits until these digits have arrived, each once. */
  async receivesDigits(digits: string): Promise<void> {
    await until(
      `the digits ${digits}`,
      () => digitsOf(this.media.packets),
      (got) => got === digits,
    )
  }

  /** Ends the pause before the scenario's next step, such as hanging up, if `holdMs` is `manual`. */
  goesOn(): Promise<void> {
    return this.sipp.goOn()
  }

  /** Waits for the end of SIPp. Throws if its scenario failed. */
  done(): Promise<void> {
    return this.sipp.succeeded()
  }
}
