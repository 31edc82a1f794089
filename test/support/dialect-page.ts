import { randomBytes } from 'node:crypto'
import { type AnyFrame, TestBrowser } from '../../gateway/rpc/testing/test-browser.ts'
import { until } from './until.ts'

/** Reaction of a page to an invitation. */
export type Reaction = 'answer' | 'decline' | 'ring'

/**
 * A simulated page without a browser, for tests with many pages. The page speaks JSON-RPC over a real
 * WebSocket, answers with a description like a browser's, and sends no media.
 */
export class DialectPage {
  readonly #port: number
  readonly #token: string
  readonly #reaction: Reaction
  #browser: TestBrowser | undefined
  #protocol: unknown
  #state: unknown
  #messages = 0
  /** Calls that rang, one entry for each ring. */
  readonly rung: string[] = []
  /** The offer of each call. */
  readonly #offers = new Map<string, string>()
  /** Calls whose answer was confirmed. */
  readonly answered: string[] = []
  /** The cause of each call that the gateway ended. */
  readonly ended = new Map<string, unknown>()

  constructor(port: number, token: string, reaction: Reaction) {
    this.#port = port
    this.#token = token
    this.#reaction = reaction
  }

  /** Connects, or connects again as the same page. Resolves with the gateway's answer. */
  async connect(): Promise<void> {
    const browser = await TestBrowser.open(this.#port)
    this.#browser = browser
    const known = this.#protocol !== undefined && {
      protocol: this.#protocol,
      authorization_state: this.#state,
    }
    const { protocol } = await this.#ask('signalwire.connect', {
      version: { major: 4, minor: 0, revision: 0 },
      event_acks: true,
      authentication: { jwt_token: this.#token },
      ...known,
    })
    if (known && protocol !== this.#protocol) throw new Error('the gateway does not know the page again')
    this.#protocol = protocol
    void this.#listen(browser)
  }

  async online(): Promise<void> {
    await this.#ask('subscriber.online', {})
    // The gateway does not repeat this state, so the page keeps it.
    await until(
      'the state of a page',
      () => this.#state,
      (state) => state !== undefined,
    )
  }

  async offline(): Promise<void> {
    await this.#ask('subscriber.offline', {})
  }

  /** Breaks the connection without a closing handshake. */
  cut(): void {
    this.#browser?.socket.terminate()
  }

  /** Answers a call that rings. */
  async answer(callId: string): Promise<void> {
    await this.#verto('verto.answer', callId, { sdp: answerTo(this.#offers.get(callId) ?? '') })
  }

  async hangUp(callId: string): Promise<void> {
    await this.#verto('verto.bye', callId, { cause: 'NORMAL_CLEARING', causeCode: '16' })
  }

  async close(): Promise<void> {
    await this.#browser?.close()
  }

  async #listen(browser: TestBrowser): Promise<void> {
    for (;;) {
      const { params } = await browser.frame(({ method }) => method === 'signalwire.event')
      const { event_type: type, params: event } = params as { event_type: string; params: AnyFrame }
      if (type === 'signalwire.authorization.state') this.#state = event.authorization_state
      if (type === 'webrtc.message') this.#take(String(event.method), event.params as AnyFrame)
    }
  }

  #take(method: string, { callID, sdp, cause }: AnyFrame): void {
    const id = String(callID)
    if (method === 'verto.answer') this.answered.push(id)
    if (method === 'verto.bye') this.ended.set(id, cause)
    if (method !== 'verto.invite') return
    this.rung.push(id)
    this.#offers.set(id, String(sdp))
    if (this.#reaction === 'answer') void this.answer(id)
    if (this.#reaction === 'decline')
      void this.#verto('verto.bye', id, { cause: 'USER_BUSY', causeCode: '17' })
  }

  #verto(method: string, callID: string, more: AnyFrame): Promise<AnyFrame> {
    const params = { dialogParams: { callID }, ...more }
    const message = { jsonrpc: '2.0', id: `m${++this.#messages}`, method, params }
    return this.#ask('webrtc.verto', { message, callID })
  }

  async #ask(method: string, params: AnyFrame): Promise<AnyFrame> {
    const { result, error } = await this.#browser!.send(method, params)
    if (!result) throw new Error(`${method}: ${JSON.stringify(error)}`)
    return result as AnyFrame
  }
}

/**
 * Returns an answer with the first audio codec of an offer; all other m-lines are refused (RFC 3264 section
 * 6).
 */
const answerTo = (offer: string): string => {
  const [session = '', ...lines] = offer.split(/\r?\n(?=m=)/)
  const group = /^a=group:BUNDLE (\S+)/m.exec(session)?.[1]
  const hex = () => randomBytes(16).toString('hex')
  const fingerprint = randomBytes(32).toString('hex').toUpperCase().match(/../g)?.join(':')
  const answers = lines.flatMap((line) => {
    const [, kind, protocol, payload] = /^m=(\w+) \d+ (\S+) (\d+)/.exec(line) ?? []
    const mid = /^a=mid:(\S+)/m.exec(line)?.[1]
    if (kind !== 'audio') return [`m=${kind} 0 ${protocol} ${payload}`, 'c=IN IP4 0.0.0.0', `a=mid:${mid}`]
    return [
      `m=audio 9 ${protocol} ${payload}`,
      'c=IN IP4 0.0.0.0',
      `a=mid:${mid}`,
      'a=sendrecv',
      'a=rtcp-mux',
      `a=ice-ufrag:${hex().slice(0, 8)}`,
      `a=ice-pwd:${hex()}`,
      'a=setup:active',
      `a=fingerprint:sha-256 ${fingerprint}`,
      ...(line.match(new RegExp(`^a=(rtpmap|fmtp):${payload} .*$`, 'gm')) ?? []).map((text) => text.trim()),
      'a=ssrc:1001 cname:page',
    ]
  })
  const head = ['v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 't=0 0']
  return [...head, ...(group === undefined ? [] : [`a=group:BUNDLE ${group}`]), ...answers, ''].join('\r\n')
}
