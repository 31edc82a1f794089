/** Browser side of a gateway for tests: real sockets, tokens and directory; fake media and calls. */
import pino from 'pino'
import type { BrowserLimits, TurnConfig } from '../../../../config/types.ts'
import type { AudioCodec } from '../../../../media/types.ts'
import { Revocations } from '../../../auth/revocations.ts'
import type { RoomGrant } from '../../../auth/room-token-claims.ts'
import { RoomTokens } from '../../../auth/room-tokens.ts'
import { SessionStates } from '../../../auth/states.ts'
import { SubscriberTokens } from '../../../auth/subscriber-tokens.ts'
import { sampleGrant } from '../../../auth/testing/sample-grant.ts'
import { newCallId, newLegId } from '../../../calls/call/ids.ts'
import { Leg } from '../../../calls/leg/leg.ts'
import type { OutboundRequest } from '../../../calls/leg/outbound-request.ts'
import { FakeClock } from '../../../core/clock.ts'
import { Metrics } from '../../../core/metrics.ts'
import { Origins } from '../../../core/web/origins.ts'
import type { Directory } from '../../../directory/directory.ts'
import { createDirectory } from '../../../directory/directory.ts'
import type { Subscriber } from '../../../directory/model/callers.ts'
import type { SubscriberCallRow } from '../../../directory/tables/subscriber-calls.ts'
import type { Push } from '../../../push/push.ts'
import { defaultPermissions } from '../../../rooms/permissions.ts'
import type { Payer } from '../../../sip/trunks/carrier-quotas.ts'
import { RpcServer } from '../../rpc-server.ts'
import type { RpcSession } from '../../rpc-session.ts'
import { SignInHandler } from '../../sign-in-handler.ts'
import { type AnyFrame, listeningServer, TestBrowser } from '../../testing/test-browser.ts'
import { openBrowserRoom } from '../../video/open-browser-room.ts'
import { VideoDialect } from '../../video/video-dialect.ts'
import { BrowserCallFactory } from '../browser-call-factory.ts'
import { BrowserConnection } from '../browser-connection.ts'
import { BrowserCredentials } from '../browser-credentials.ts'
import { BrowserDialRules } from '../browser-dial-rules.ts'
import { BrowserDialer } from '../browser-dialer.ts'
import { BrowserQuotas } from '../browser-quotas.ts'
import { CallParties } from '../call-parties.ts'
import { CallTransfers } from '../call-transfers.ts'
import { IceServers } from '../ice-servers.ts'
import { Presence, type PresenceLimits } from '../presence.ts'
import { PresenceRequests } from '../presence-requests.ts'
import { PresenceWatch } from '../presence-watch.ts'
import { SubscriberCallLog } from '../subscriber-call-log.ts'
import { SubscriberRinger } from '../subscriber-ringer.ts'
import { VertoRequests } from '../verto-requests.ts'
import { FakeArrivals, FakeEdge, FakeOwner, FakeWebRtc } from './subscriber-fakes.ts'

const secret = new Uint8Array(32).fill(9)

// Hashing passwords is slow, and no test changes the directory.
let shared: Promise<Directory> | undefined
const directory = (): Promise<Directory> => {
  shared ??= makeDirectory()
  return shared
}

const makeDirectory = async (): Promise<Directory> => {
  const person = { password: 'x', context: 'public' }
  const made = await createDirectory({
    file: ':memory:',
    config: {
      project: 'p1',
      projects: [{ id: 'p1', name: 'p1', signingKeys: [] }],
      sip: { registrar: { domains: [] } },
      domains: [],
      endpoints: [],
      subscribers: [
        { ...person, email: 'alice@example.test', name: 'alice', displayName: 'Alice', mayDialOut: true },
        { ...person, email: 'bob@example.test', name: 'bob', mayDialOut: false },
      ],
      resources: [],
    },
    secret,
    clock: new FakeClock(),
    log: { info: () => {}, error: () => {} },
  })
  const room = { projectId: 'p1', displayName: 'Lounge', name: 'lounge', details: { recordOnStart: false } }
  await made.resources.create({ type: 'room', ...room })
  return made
}

/** Options of a call to a subscriber. */
type CallOptions = Partial<Pick<OutboundRequest, 'caller' | 'callerName' | 'inviter' | 'from'>> &
  Pick<OutboundRequest['destination'], 'userVariables'> & { readonly query?: string }

/** Page that speaks the dialect. */
export class TestPage {
  readonly browser: TestBrowser
  #messages = 0

  constructor(browser: TestBrowser) {
    this.browser = browser
  }

  /** Returns the result of a request. Throws for an error response. */
  async ask(method: string, params: AnyFrame = {}): Promise<AnyFrame> {
    const answer = await this.browser.send(method, params)
    if (!answer.result) throw new Error(`${method}: ${JSON.stringify(answer.error)}`)
    return answer.result as AnyFrame
  }

  connect(token: string, more: AnyFrame = {}): Promise<AnyFrame> {
    return this.ask('signalwire.connect', {
      version: { major: 4, minor: 0, revision: 0 },
      event_acks: true,
      agent: '@trunkline/client/0.1.0',
      authentication: { jwt_token: token },
      ...more,
    })
  }

  /** Sends a Verto message about a call, and returns the innermost result. */
  async verto(method: string, callID: string, more: AnyFrame = {}, dialog: AnyFrame = {}): Promise<AnyFrame> {
    const params = { dialogParams: { callID, ...dialog }, ...more }
    const message = { jsonrpc: '2.0', id: `m${++this.#messages}`, method, params }
    const result = await this.ask('webrtc.verto', { message, callID, subscribe: ['track'] })
    return ((result.result as AnyFrame | undefined)?.result as AnyFrame | undefined) ?? result
  }

  /** Sends a Verto message of a page with a room token, and returns the result of the request. */
  videoMessage(
    method: string,
    callID: string,
    more: AnyFrame = {},
    dialog: AnyFrame = {},
  ): Promise<AnyFrame> {
    const params = { dialogParams: { callID, destination_number: 'room', attach: false, ...dialog }, ...more }
    const message = { jsonrpc: '2.0', id: `m${++this.#messages}`, method, params }
    return this.ask('video.message', { message, callID, subscribe: ['video.member.joined'] })
  }

  dial(callID: string, to: string, sdp = 'offer', dialog: AnyFrame = {}): Promise<AnyFrame> {
    return this.verto('verto.invite', callID, { sdp }, { destination_number: to, ...dialog })
  }

  /** Returns the params of the next event of a type. */
  async event(type: string): Promise<AnyFrame> {
    const frame = await this.browser.frame((f) => (f.params as AnyFrame | undefined)?.event_type === type)
    return (frame.params as AnyFrame).params as AnyFrame
  }

  /** Returns the params of the next Verto message of a method. */
  async message(method: string): Promise<AnyFrame> {
    const frame = await this.browser.frame((f) => {
      const params = f.params as AnyFrame | undefined
      return params?.event_type === 'webrtc.message' && (params.params as AnyFrame).method === method
    })
    return ((frame.params as AnyFrame).params as AnyFrame).params as AnyFrame
  }

  /** Every event so far, as short words, without the session state and the history. */
  get story(): string[] {
    return this.browser.requests.flatMap((request) => {
      const { event_type: type, params } = request.params as { event_type: string; params: AnyFrame }
      if (type === 'signalwire.authorization.state' || type === 'subscriber.call') return []
      if (type === 'webrtc.message') return [String(params.method)]
      return [type === 'call.state' ? `call.state ${params.call_state}` : type]
    })
  }
}

/** Gateway behind the pages. */
export class SubscriberTestGateway {
  readonly clock = new FakeClock()
  readonly metrics = new Metrics()
  readonly webrtc = new FakeWebRtc()
  readonly arrivals = new FakeArrivals()
  /** Codecs that a callee probably supports. */
  likelyCodecs: (to: string) => readonly AudioCodec[] = () => []
  /** Notifies devices of calls; read by {@link startGateway}. */
  push: Pick<Push, 'call'> = { call: async () => undefined }
  /** Read by {@link startGateway}, as the quotas. */
  limits: Partial<PresenceLimits> | undefined
  browserQuotas: Partial<BrowserLimits> | undefined
  /** Read by {@link startGateway}. */
  turn: TurnConfig | undefined
  /** Payers of the calls in progress. */
  readonly attributed = new Map<string, Payer>()
  /** Opens the ports of joined calls. */
  readonly edge = new FakeEdge()
  /** Ended calls of the subscribers. */
  readonly history: SubscriberCallRow[] = []
  /** Ids of the calls that rang when the former gateway crashed, by subscriber. */
  readonly interrupted = new Map<string, readonly string[]>()
  /** Calls of the subscribers as they were stored before their end. */
  readonly historyInProgress: SubscriberCallRow[] = []
  readonly lines: string[] = []
  revocations!: Revocations
  tokens!: SubscriberTokens
  roomTokens!: RoomTokens
  /** Time before which all tokens of subscribers are revoked. */
  tokensAfter = 0
  directory!: Directory
  presence!: Presence
  ringer!: SubscriberRinger
  parties!: CallParties
  watch!: PresenceWatch
  rpc!: RpcServer
  #http!: Awaited<ReturnType<typeof listeningServer>>

  static async start(): Promise<SubscriberTestGateway> {
    const gateway = new SubscriberTestGateway()
    gateway.directory = await directory()
    gateway.revocations = await gateway.#openRevocations()
    gateway.tokens = new SubscriberTokens(secret, gateway.clock, undefined, gateway.revocations)
    const { clock, revocations } = gateway
    gateway.roomTokens = new RoomTokens({ secret }, { clock, revocations })
    gateway.#http = await listeningServer()
    gateway.startGateway()
    return gateway
  }

  #openRevocations(): Promise<Revocations> {
    const rows = {
      all: async () => [],
      find: async () => undefined,
      add: async () => {},
      removeEnded: async () => {},
    }
    return Revocations.open({ rows, tokensAfter: () => this.tokensAfter, now: () => this.clock.now() })
  }

  /** Starts the parts that a restart of the gateway replaces. */
  startGateway(): void {
    const { clock, metrics, webrtc, arrivals, tokens, directory } = this
    const log = pino({ level: 'trace' }, { write: (line: string) => this.lines.push(line) })
    const states = new SessionStates(secret)
    const nodeId = 'node-1'
    const presence = new Presence({ nodeId, tokens, metrics, clock, log }, this.limits)
    const quotas = new BrowserQuotas({ presence, metrics, clock, log }, this.browserQuotas)
    const carrierQuotas = {
      attribute: (callId: string, payer: Payer) => {
        this.attributed.set(callId, payer)
        return () => void this.attributed.delete(callId)
      },
    }
    const parties = new CallParties(nodeId)
    const calls = new BrowserCallFactory({ webrtc, parties, openRoom: openBrowserRoom, clock, log })
    const rules = new BrowserDialRules(directory, { of: (to) => this.likelyCodecs(to) }, carrierQuotas)
    const history = {
      add: (call: SubscriberCallRow) => this.history.push(call),
      addInProgress: (call: SubscriberCallRow) => this.historyInProgress.push(call),
    }
    const callLog = new SubscriberCallLog({ history, presence })
    const dialer = new BrowserDialer({ rules, calls, arrivals, callLog, metrics, clock, log })
    const legDeps = { calls, push: this.push, metrics, clock, log }
    const ringer = new SubscriberRinger({ directory, presence, quotas, callLog, legDeps })
    const transfers = new CallTransfers({ rules, quotas, edge: this.edge, metrics, clock, log })
    const verto = new VertoRequests({ dialer, transfers, ringer, quotas, log })
    const rooms = new VideoDialect({ verto, directory, metrics, clock, log })
    const credentials = new BrowserCredentials({
      directory,
      tokens,
      roomTokens: this.roomTokens,
      states,
      metrics,
      log,
    })
    const iceServers = new IceServers(clock, this.turn)
    const watch = new PresenceWatch({ directory, presence, parties })
    const presenceRequests = new PresenceRequests({ watch, directory, log })
    const interruptedRinging = (id: string) => this.interrupted.get(id) ?? []
    const connectionDeps = {
      credentials,
      presence,
      quotas,
      verto,
      rooms,
      presenceRequests,
      iceServers,
      history: { interruptedRinging },
      clock,
      log,
    }
    Object.assign(this, { presence, ringer, parties, watch })
    const origins = new Origins([])
    const application = () => {
      throw new Error('this gateway has no applications')
    }
    const open = (session: RpcSession) =>
      new SignInHandler(
        { subscriber: () => new BrowserConnection(connectionDeps, session), application },
        session,
        clock,
      )
    this.rpc = new RpcServer({ clock, log, metrics, origins, open })
    this.rpc.attach(this.#http.server)
  }

  stopGateway(): void {
    this.presence.close()
    this.rpc.close()
  }

  async close(): Promise<void> {
    this.stopGateway()
    await this.#http.close()
  }

  subscriber(name: 'alice' | 'bob'): Subscriber {
    return this.directory.subscriberByEmail('p1', `${name}@example.test`) as Subscriber
  }

  async token(name: 'alice' | 'bob' = 'alice', seconds = 3600): Promise<string> {
    return (await this.tokens.issue(this.subscriber(name), seconds)).token
  }

  /** Returns a token for the address of one subscriber only: of a guest, or of a user that Alice invited. */
  async limitedToken(kind: 'guest' | 'invite', to: 'alice' | 'bob' = 'bob', seconds = 3600): Promise<string> {
    const { projectId, id } = this.subscriber('alice')
    const holder = { projectId, id: kind === 'guest' ? 'guest-1' : id }
    const terms = { kind, addressIds: [this.subscriber(to).addressId] }
    return (await this.tokens.issue(holder, seconds, terms)).token
  }

  /** Returns a token for the lounge, by default with all permissions on the own member. */
  async roomToken(changes: Partial<RoomGrant> = {}): Promise<string> {
    const grant = sampleGrant({ permissions: defaultPermissions, ...changes })
    return (await this.roomTokens.issue('p1', grant, 3600)).token
  }

  async page(): Promise<TestPage> {
    return new TestPage(await TestBrowser.open(this.#http.port))
  }

  /** Opens a page and signs in. */
  async signedIn(name: 'alice' | 'bob' = 'alice', more: AnyFrame = {}): Promise<TestPage> {
    const page = await this.page()
    await page.connect(await this.token(name), more)
    return page
  }

  /** Opens a page that receives calls. */
  async online(name: 'alice' | 'bob' = 'alice'): Promise<TestPage> {
    const page = await this.signedIn(name)
    await page.ask('subscriber.online')
    return page
  }

  /** Returns a leg of another party, such as a telephone. */
  partner(uri: string, direction: 'inbound' | 'outbound'): Leg {
    const party = { uri, user: uri, name: '' }
    const now = () => this.clock.now()
    return new Leg({ id: newLegId(), kind: 'sip', direction, from: party, to: party, now })
  }

  /** Calls a subscriber; `query` is appended to the address. */
  call(
    name: 'alice' | 'bob' = 'alice',
    { query = '', userVariables, ...more }: CallOptions = {},
  ): { readonly leg: Leg; readonly owner: FakeOwner } {
    const { id, address } = this.subscriber(name)
    const leg = this.ringer.dial(
      { kind: 'subscriber', subscriberId: id, address },
      {
        destination: { to: `${address}${query}`, ...(userVariables && { userVariables }) },
        projectId: 'p1',
        callId: newCallId(),
        codec: 'PCMA',
        from: { uri: 'sip:+15551230001@carrier.example', user: '+15551230001', name: 'Carrier Caller' },
        ...more,
      },
    )
    const owner = new FakeOwner()
    leg.own(owner)
    return { leg, owner }
  }
}
