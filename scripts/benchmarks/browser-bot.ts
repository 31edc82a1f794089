/** Simulated browsers: the SDK's requests through a WebSocket, and ICE, DTLS and SRTP by mediasoup. */
import { randomUUID } from 'node:crypto'
import { type AnyFrame, TestBrowser } from '../../gateway/rpc/testing/test-browser.ts'
import { BotLine } from './bot-line.ts'
import type { BotSources } from './bot-sources.ts'
import type { Rectangle } from './marks.ts'
import { within } from './within.ts'

/** Media of a {@link BrowserBot}. */
export interface BotMedia {
  /** Whether the bot speaks; default false: it sends no audio. */
  readonly speaks?: boolean
  /** Whether the bot sends a camera, and receives pictures; default false. */
  readonly hasVideo?: boolean
  /** Called for each packet of the room's audio. */
  readonly onAudio?: (packet: Buffer) => void
  /** Called for each packet of the room's picture. */
  readonly onVideo?: (packet: Buffer) => void
}

/** Connection of a bot for one call: the offer, and what the answer opens. */
class BotPeer {
  readonly offer: string
  readonly #lines: readonly BotLine[]

  private constructor(lines: readonly BotLine[]) {
    this.#lines = lines
    const head = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 't=0 0']
    this.offer = `${[...head, ...lines.flatMap(({ offer }) => offer)].join('\r\n')}\r\n`
  }

  static async open(sources: BotSources, media: BotMedia, isScreen = false): Promise<BotPeer> {
    const { speaks, hasVideo, onAudio, onVideo } = media
    const audio = { kind: 'audio', direction: 'sendrecv', isSilent: !speaks, onPacket: onAudio } as const
    const video = { kind: 'video', direction: 'sendrecv', onPacket: onVideo } as const
    const screen = { kind: 'video', direction: 'sendonly' } as const
    const wanted = isScreen ? [screen] : hasVideo ? [audio, video] : [audio]
    return new BotPeer(await Promise.all(wanted.map((line, mid) => BotLine.open(sources, mid, line))))
  }

  /** Connects with the gateway. */
  async accept(answer: string): Promise<void> {
    const [, ...sections] = answer.split(/^(?=m=)/m)
    await Promise.all(this.#lines.map((line, at) => line.accept(sections[at] ?? '')))
  }

  close(): void {
    for (const line of this.#lines) line.close()
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
  #dialledAt = Number.NaN

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
    bot.#dialledAt = performance.now()
    await bot.#connect(bot.#peer, bot.#callId, { destination_number: to })
    bot.#memberId = (await joined).member_id
    return bot
  }

  /** Time at which the bot sent its offer. */
  get dialledAt(): number {
    return this.#dialledAt
  }

  /** Layers of the latest layout. */
  get layers(): readonly Rectangle[] {
    const layouts = this.#browser.frames
      .map(({ params }) => (params ?? {}) as AnyFrame)
      .filter(({ event_type: type }) => type === 'layout.changed')
    const { layout } = (layouts.at(-1)?.params ?? {}) as {
      readonly layout?: { readonly layers: Rectangle[] }
    }
    return layout?.layers ?? []
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

  async #connect(peer: BotPeer, callID: string, dialogParams: object): Promise<void> {
    const concerns = (frame: AnyFrame) => {
      const { method, params } = messageOf(frame)
      return params?.callID === callID && (method === 'verto.bye' || typeof params.sdp === 'string')
    }
    const first = within('answer', this.#browser.frame(concerns))
    await this.#verto('verto.invite', callID, { dialogParams: { callID, ...dialogParams }, sdp: peer.offer })
    const { method, params } = messageOf(await first)
    if (method === 'verto.bye') throw new Error(`call rejected: ${JSON.stringify(params)}`)
    await peer.accept(String(params?.sdp))
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
