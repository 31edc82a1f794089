/** One m-line of a simulated browser: ICE, DTLS and SRTP by mediasoup. */
import type { types } from 'mediasoup'
import { type BotSources, payloadTypes } from './bot-sources.ts'
import { IceLink } from './ice-link.ts'
import { within } from './within.ts'

/** Media of one m-line of a bot. */
export interface BotLineMedia {
  readonly kind: 'audio' | 'video'
  readonly direction: 'sendrecv' | 'sendonly'
  /** Whether the source sends nothing. */
  readonly isSilent?: boolean
  /** Called for each packet that arrives. */
  readonly onPacket?: ((packet: Buffer) => void) | undefined
}

const formats = {
  audio: [`a=rtpmap:${payloadTypes.audio} opus/48000/2`],
  video: [
    `a=rtpmap:${payloadTypes.video} VP8/90000`,
    `a=rtcp-fb:${payloadTypes.video} nack`,
    `a=rtcp-fb:${payloadTypes.video} nack pli`,
  ],
}

const attributeOf = (sdp: string, name: string): string =>
  new RegExp(`^a=${name}:(.*?)\\r?$`, 'm').exec(sdp)?.[1] ?? ''

const sha256Of = ({ fingerprints }: types.DtlsParameters): string =>
  fingerprints.find(({ algorithm }) => algorithm === 'sha-256')?.value ?? ''

/** The m-line with its transport: the gateway never bundles. */
export class BotLine {
  /** The m-line of the offer, with its attributes. */
  readonly offer: readonly string[]
  readonly #sources: BotSources
  readonly #transport: types.WebRtcTransport
  readonly #media: BotLineMedia
  #link: IceLink | undefined

  private constructor(
    sources: BotSources,
    transport: types.WebRtcTransport,
    media: BotLineMedia,
    offer: readonly string[],
  ) {
    this.#sources = sources
    this.#transport = transport
    this.#media = media
    this.offer = offer
  }

  static async open(sources: BotSources, mid: number, media: BotLineMedia): Promise<BotLine> {
    const { kind, direction, isSilent = false } = media
    const transport = await sources.router.createWebRtcTransport({
      listenInfos: [{ protocol: 'udp', ip: '127.0.0.1' }],
    })
    const { rtpParameters } = await transport.consume({
      producerId: sources[kind].id,
      rtpCapabilities: sources.capabilities,
      paused: isSilent,
    })
    const { iceParameters, iceCandidates, dtlsParameters } = transport
    return new BotLine(sources, transport, media, [
      `m=${kind} 9 UDP/TLS/RTP/SAVPF ${payloadTypes[kind]}`,
      'c=IN IP4 127.0.0.1',
      ...formats[kind],
      `a=ssrc:${rtpParameters.encodings![0]!.ssrc} cname:bot`,
      `a=${direction}`,
      `a=mid:${mid}`,
      'a=rtcp-mux',
      `a=ice-ufrag:${iceParameters.usernameFragment}`,
      `a=ice-pwd:${iceParameters.password}`,
      `a=fingerprint:sha-256 ${sha256Of(dtlsParameters)}`,
      'a=setup:actpass',
      `a=candidate:1 1 udp 2130706431 127.0.0.1 ${iceCandidates[0]!.port} typ host`,
    ])
  }

  /** Connects with the gateway. `answer`: its m-line with the attributes. */
  async accept(answer: string): Promise<void> {
    const transport = this.#transport
    const { iceParameters, iceCandidates } = transport
    const [, value = ''] = attributeOf(answer, 'fingerprint').split(' ')
    const role = attributeOf(answer, 'setup') === 'active' ? 'client' : 'server'
    const { promise, resolve } = Promise.withResolvers<void>()
    transport.on('dtlsstatechange', (state) => state === 'connected' && resolve())
    const far = {
      port: Number(attributeOf(answer, 'candidate').split(' ')[5]),
      ufrag: attributeOf(answer, 'ice-ufrag'),
      password: attributeOf(answer, 'ice-pwd'),
    }
    const near = {
      port: iceCandidates[0]!.port,
      ufrag: iceParameters.usernameFragment,
      password: iceParameters.password,
    }
    this.#link = await within(
      'ICE',
      IceLink.open(near, far, (ssrc) => this.#receive(ssrc)),
    )
    await transport.connect({ dtlsParameters: { role, fingerprints: [{ algorithm: 'sha-256', value }] } })
    await within('DTLS', promise)
  }

  close(): void {
    this.#link?.close()
    this.#transport.close()
  }

  /** Receives a stream. The answer has no SSRC of video, so its first packet tells it. */
  async #receive(ssrc: number): Promise<void> {
    const { kind, onPacket } = this.#media
    if (!onPacket) return
    const { direct, capabilities } = this.#sources
    const codecs = capabilities.codecs!.filter((codec) => codec.kind === kind)
    const { id } = await this.#transport.produce({
      kind,
      rtpParameters: {
        codecs: codecs.map(({ preferredPayloadType, kind: _, ...codec }) => ({
          ...codec,
          payloadType: preferredPayloadType!,
        })),
        encodings: [{ ssrc }],
      },
    })
    const received = await direct.consume({ producerId: id, rtpCapabilities: capabilities })
    received.on('rtp', onPacket)
  }
}
