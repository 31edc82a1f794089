/** Simulated browsers: the SDK's requests through a WebSocket, and ICE, DTLS and SRTP by mediasoup. */
import { randomUUID } from 'node:crypto'
import type { types } from 'mediasoup'
import { type AnyFrame, TestBrowser } from '../../gateway/rpc/testing/test-browser.ts'
import { type BotSources, payloadTypes } from './bot-sources.ts'
import { IceLink } from './ice-link.ts'

/** Longest wait for an answer or an event, in ms. */
const patienceMs = 20_000

/** Media of a {@link BrowserBot}. */
export interface BotMedia {
  /** Whether the bot speaks; default false: it sends no audio. */
  readonly speaks?: boolean
  /** Whether the bot sends a camera, and receives pictures; default false. */
  readonly hasVideo?: boolean
  /** Called for each packet of the room's audio. */
  readonly onAudio?: () => void
}

const attributeOf = (sdp: string, name: string): string =>
  new RegExp(`^a=${name}:(.*?)\\r?$`, 'm').exec(sdp)?.[1] ?? ''

/** Connection of a bot for one call: the offer, and what the answer opens. */
class BotPeer {
  readonly offer: string
  readonly #transport: types.WebRtcTransport
  readonly #sources: BotSources
  #link: IceLink | undefined

  private constructor(sources: BotSources, transport: types.WebRtcTransport, offer: string) {
    this.#sources = sources
    this.#transport = transport
    this.offer = offer
  }

  static async open(sources: BotSources, { speaks, hasVideo }: BotMedia, isScreen = false): Promise<BotPeer> {
    const transport = await sources.router.createWebRtcTransport({
      listenInfos: [{ protocol: 'udp', ip: '127.0.0.1' }],
    })
    const ssrcOf = async (producer: types.Producer, paused: boolean) => {
      const rtpCapabilities = sources.capabilities
      const { rtpParameters } = await transport.consume({ producerId: producer.id, rtpCapabilities, paused })
      return rtpParameters.encodings![0]!.ssrc!
    }
    const lines: string[] = []
    if (!isScreen) {
      const { audio } = payloadTypes
      const ssrc = await ssrcOf(sources.audio, !speaks)
      lines.push(
        `m=audio 9 UDP/TLS/RTP/SAVPF ${audio}`,
        `a=rtpmap:${audio} opus/48000/2`,
        `a=ssrc:${ssrc} cname:bot`,
      )
      lines.push('a=sendrecv', ...transportLines(transport, '0'))
    }
    if (isScreen || hasVideo) {
      const { video } = payloadTypes
      const ssrc = await ssrcOf(sources.video, false)
      lines.push(
        `m=video 9 UDP/TLS/RTP/SAVPF ${video}`,
        `a=rtpmap:${video} VP8/90000`,
        `a=ssrc:${ssrc} cname:bot`,
      )
      lines.push(`a=rtcp-fb:${video} nack`, `a=rtcp-fb:${video} nack pli`)
      lines.push(isScreen ? 'a=sendonly' : 'a=sendrecv', ...transportLines(transport, isScreen ? '0' : '1'))
    }
    const group = `a=group:BUNDLE 0${!isScreen && hasVideo ? ' 1' : ''}`
    const head = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 't=0 0', group]
    return new BotPeer(sources, transport, `${[...head, ...lines].join('\r\n')}\r\n`)
  }

  /** Connects with the gateway. `onAudio` is called for each packet of audio. */
  async accept(answer: string, onAudio?: () => void): Promise<void> {
    const { iceParameters, iceCandidates } = this.#transport
    const [, value = ''] = attributeOf(answer, 'fingerprint').split(' ')
    const role = attributeOf(answer, 'setup') === 'active' ? 'client' : 'server'
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#transport.on('dtlsstatechange', (state) => state === 'connected' && resolve())
    if (onAudio) await this.#listen(answer, onAudio)
    const candidate = attributeOf(answer, 'candidate').split(' ')
    const near = {
      port: iceCandidates[0]!.port,
      ufrag: iceParameters.usernameFragment,
      password: iceParameters.password,
    }
    const far = {
      port: Number(candidate[5]),
      ufrag: attributeOf(answer, 'ice-ufrag'),
      password: attributeOf(answer, 'ice-pwd'),
    }
    this.#link = await within('ICE', IceLink.open(near, far))
    await this.#transport.connect({
      dtlsParameters: { role, fingerprints: [{ algorithm: 'sha-256', value }] },
    })
    await within('DTLS', promise)
  }

  close(): void {
    this.#link?.close()
    this.#transport.close()
  }

  async #listen(answer: string, onAudio: () => void): Promise<void> {
    const ssrc = Number.parseInt(attributeOf(answer.slice(answer.indexOf('m=audio')), 'ssrc'), 10)
    const { audio: payloadType } = payloadTypes
    const codec = { mimeType: 'audio/opus', payloadType, clockRate: 48_000, channels: 2 } as const
    const { id } = await this.#transport.produce({
      kind: 'audio',
      rtpParameters: { codecs: [codec], encodings: [{ ssrc }] },
    })
    const { direct, capabilities } = this.#sources
    const heard = await direct.consume({ producerId: id, rtpCapabilities: capabilities })
    heard.on('rtp', onAudio)
  }
}

const sha256Of = ({ fingerprints }: types.DtlsParameters): string =>
  fingerprints.find(({ algorithm }) => algorithm === 'sha-256')?.value ?? ''

const transportLines = (
  { iceParameters, iceCandidates, dtlsParameters }: types.WebRtcTransport,
  mid: string,
): string[] => [
  'c=IN IP4 127.0.0.1',
  `a=mid:${mid}`,
  'a=rtcp-mux',
  `a=ice-ufrag:${iceParameters.usernameFragment}`,
  `a=ice-pwd:${iceParameters.password}`,
  `a=fingerprint:sha-256 ${sha256Of(dtlsParameters)}`,
  'a=setup:actpass',
  `a=candidate:1 1 udp 2130706431 127.0.0.1 ${iceCandidates[0]!.port} typ host`,
]

/** Resolves as the promise does, or rejects after {@link patienceMs}. */
const within = async <T>(what: string, promise: Promise<T>): Promise<T> => {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`not in time: ${what}`)), patienceMs)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** A member of a room, as the published SDK dials it. */
export class BrowserBot {
  readonly #browser: TestBrowser
  readonly #sources: BotSources
  readonly #callId = randomUUID()
  #peer: BotPeer | undefined
  #screen: { readonly callId: string; readonly peer: BotPeer } | undefined
  #memberId: unknown

  private constructor(browser: TestBrowser, sources: BotSources) {
    this.#browser = browser
    this.#sources = sources
  }

  /** Signs in at the gateway's port, and dials an address. Resolves when the media is connected. */
  static async join(
    sources: BotSources,
    port: number,
    { token, to }: { readonly token: string; readonly to: string },
    media: BotMedia = {},
  ): Promise<BrowserBot> {
    const bot = new BrowserBot(await TestBrowser.open(port), sources)
    await bot.#ask('signalwire.connect', {
      version: { major: 4, minor: 0, revision: 0 },
      event_acks: true,
      authentication: { jwt_token: token },
    })
    const joined = bot.#event('call.joined')
    bot.#peer = await BotPeer.open(sources, media)
    await bot.#connect(bot.#peer, bot.#callId, { destination_number: to }, media.onAudio)
    bot.#memberId = (await joined).member_id
    return bot
  }

  /** Shares a screen; the call of a bot has one at most. */
  async share(to: string): Promise<void> {
    const peer = await BotPeer.open(this.#sources, {}, true)
    this.#screen = { callId: randomUUID(), peer }
    await this.#connect(peer, this.#screen.callId, {
      destination_number: to,
      screenShare: true,
      userVariables: { memberCallId: this.#callId, memberId: this.#memberId },
    })
  }

  /** Ends the screen. */
  async unshare(): Promise<void> {
    if (!this.#screen) return
    const { callId, peer } = this.#screen
    this.#screen = undefined
    await this.#hangUp(callId)
    peer.close()
  }

  /** Leaves the room; `isPolite` false: without a word, as a page that is closed. */
  async leave(isPolite = true): Promise<void> {
    if (isPolite) await this.#hangUp(this.#callId)
    this.#screen?.peer.close()
    this.#peer?.close()
    await this.#browser.close()
  }

  async #connect(peer: BotPeer, callID: string, dialogParams: object, onAudio?: () => void): Promise<void> {
    const concerns = (frame: AnyFrame) => {
      const { method, params } = messageOf(frame)
      return params?.callID === callID && (method === 'verto.bye' || typeof params.sdp === 'string')
    }
    const first = within('answer', this.#browser.frame(concerns))
    await this.#verto('verto.invite', callID, { dialogParams: { callID, ...dialogParams }, sdp: peer.offer })
    const { method, params } = messageOf(await first)
    if (method === 'verto.bye') throw new Error(`call rejected: ${JSON.stringify(params)}`)
    await peer.accept(String(params?.sdp), onAudio)
  }

  #hangUp(callID: string): Promise<AnyFrame> {
    const more = { dialogParams: { callID }, cause: 'NORMAL_CLEARING', causeCode: '16' }
    return this.#verto('verto.bye', callID, more)
  }

  #verto(method: string, callID: string, params: object): Promise<AnyFrame> {
    const message = { jsonrpc: '2.0', id: randomUUID(), method, params }
    return this.#ask('webrtc.verto', { message, callID })
  }

  async #event(type: string): Promise<AnyFrame> {
    const frame = await within(
      type,
      this.#browser.frame(({ params }) => (params as AnyFrame | undefined)?.event_type === type),
    )
    return (frame.params as { readonly params: AnyFrame }).params
  }

  async #ask(method: string, params: AnyFrame): Promise<AnyFrame> {
    const { result, error } = await within(method, this.#browser.send(method, params))
    if (!result) throw new Error(`${method}: ${JSON.stringify(error)}`)
    return result as AnyFrame
  }
}

/** Returns the Verto message in an event of the gateway. */
const messageOf = ({ params }: AnyFrame): { readonly method?: unknown; readonly params?: AnyFrame } => {
  const { event_type: type, params: message } = (params ?? {}) as AnyFrame
  return type === 'webrtc.message' ? (message as { method?: unknown; params?: AnyFrame }) : {}
}
