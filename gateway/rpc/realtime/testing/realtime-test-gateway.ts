/** The application side of one gateway for tests: real sockets, fake calls. */
import pino from 'pino'
import { FakeCall } from '../../../../handlers/testing/fake-call.ts'
import { ProjectAccess } from '../../../auth/project-access.ts'
import { TestTokens } from '../../../auth/testing/api-tokens.ts'
import type { OriginatedLeg, Origination } from '../../../calls/connect/origination.ts'
import { FakeClock } from '../../../core/clock.ts'
import { Metrics } from '../../../core/metrics.ts'
import { Origins } from '../../../core/web/origins.ts'
import { RpcServer } from '../../rpc-server.ts'
import type { RpcSession } from '../../rpc-session.ts'
import { SignInHandler } from '../../sign-in-handler.ts'
import { type AnyFrame, listeningServer, TestBrowser } from '../../testing/test-browser.ts'
import { RealtimeDialect } from '../realtime-dialect.ts'

/** The API token of the project `demo`. */
export const apiToken = 'an-api-token'
/** One of the same project that reads records, and does nothing else. */
export const recordsToken = 'a-token-for-records'
/** One that ends 20 seconds after the beginning. */
export const endingToken = 'a-token-that-ends'
/** The API token of the project `other`. */
export const othersToken = 'an-api-token-of-another-project'

/** A client process. */
export class TestApplication {
  readonly socket: TestBrowser

  constructor(socket: TestBrowser) {
    this.socket = socket
  }

  /** Sends a request and returns its result or error. */
  async ask(method: string, params: AnyFrame = {}): Promise<AnyFrame> {
    const answer = await this.socket.send(method, params)
    return (answer.result ?? answer.error) as AnyFrame
  }

  /** Signs in. */
  connect(contexts?: readonly string[], more: AnyFrame = {}): Promise<AnyFrame> {
    return this.ask('signalwire.connect', {
      version: { major: 3, minor: 0, revision: 0 },
      event_acks: true,
      agent: '@signalwire/nodejs/realtime-api/4.2.1',
      authentication: { project: 'demo', token: apiToken },
      ...(contexts && { contexts }),
      ...more,
    })
  }

  /** The params of the next event of a type. */
  async event(type: string): Promise<AnyFrame> {
    const frame = await this.socket.frame((f) => (f.params as AnyFrame | undefined)?.event_type === type)
    return (frame.params as AnyFrame).params as AnyFrame
  }

  /** Every event so far, as `type state`, without the prefix of the type. */
  get story(): string[] {
    return this.socket.requests.map((request) => {
      const { event_type, params } = request.params as { event_type: string; params: AnyFrame }
      const { call_state, state, connect_state, dial_state, detect } = params
      const found = (detect as AnyFrame | undefined)?.params as AnyFrame | undefined
      const detail = [call_state, state, connect_state, dial_state, found?.event].find(Boolean)
      return `${event_type.replace(/^calling\.call\./, '')} ${detail}`
    })
  }
}

/** Everything behind the applications. */
export class RealtimeTestGateway {
  readonly clock = new FakeClock()
  readonly metrics = new Metrics()
  readonly lines: string[] = []
  readonly originations: Origination[] = []
  /** Result of originated calls. */
  originate: (origination: Origination) => Promise<string> = async () => 'c-9'
  readonly projects = new TestTokens([
    { project: 'demo', secret: apiToken },
    { project: 'demo', secret: recordsToken, scopes: ['records'] },
    { project: 'demo', secret: endingToken, expiresAt: new FakeClock().now() + 20_000 },
    { project: 'other', secret: othersToken },
  ])
  readonly dialect: RealtimeDialect
  readonly rpc: RpcServer
  #http!: Awaited<ReturnType<typeof listeningServer>>

  constructor() {
    const { clock, metrics } = this
    const log = pino({ level: 'trace' }, { write: (line: string) => this.lines.push(line) })
    const originator = {
      originate: (origination: Origination) => {
        this.originations.push(origination)
        return this.originate(origination)
      },
    }
    const access = new ProjectAccess({ projects: this.projects, clock })
    this.dialect = new RealtimeDialect({ access, originator, metrics, clock, log, nodeId: 'node-1' })
    const subscriber = () => {
      throw new Error('this gateway has no browsers')
    }
    const open = (session: RpcSession, { address }: { readonly address: string }) => {
      const application = () => this.dialect.open(session, address)
      return new SignInHandler({ subscriber, application }, session, clock)
    }
    this.rpc = new RpcServer({ clock, log, metrics, origins: new Origins([]), open })
  }

  static async start(): Promise<RealtimeTestGateway> {
    const harness = new RealtimeTestGateway()
    harness.#http = await listeningServer()
    harness.rpc.attach(harness.#http.server)
    return harness
  }

  async close(): Promise<void> {
    this.dialect.close()
    this.rpc.close()
    await this.#http.close()
  }

  async application(): Promise<TestApplication> {
    return new TestApplication(await TestBrowser.open(this.#http.port))
  }

  /** One that listens on `office`. */
  async listener(more: AnyFrame = {}): Promise<TestApplication> {
    const application = await this.application()
    await application.connect(['office'], more)
    return application
  }

  /** A call to `office`, and how the offering of it ends. */
  arrives(call = new FakeCall()): { readonly call: FakeCall; readonly over: Promise<unknown> } {
    const over = this.dialect.run(call, 'office').then(
      () => 'over',
      (error: unknown) => error,
    )
    return { call, over }
  }

  /** A call that an application has taken and answered; what was asked of it for that is forgotten. */
  async taken(call = new FakeCall(), more: AnyFrame = {}) {
    const application = await this.listener(more)
    const { over } = this.arrives(call)
    const { call_id } = await application.event('calling.call.receive')
    await application.ask('calling.answer', { call_id })
    call.verbs.splice(0)
    const ask = (method: string, params: AnyFrame = {}) => application.ask(method, { call_id, ...params })
    return { application, call, over, ask }
  }
}

/** A leg of a call that is being made, whose states the test tells. */
export class FakeLeg implements OriginatedLeg {
  readonly callId: string
  readonly destination: OriginatedLeg['destination']
  readonly type = 'sip'
  tell: (state: 'ringing' | 'answered' | 'ended') => void = () => {}

  constructor(callId: string, destination: OriginatedLeg['destination']) {
    this.callId = callId
    this.destination = destination
  }

  onState(listener: (state: 'ringing' | 'answered' | 'ended') => void): void {
    this.tell = listener
  }
}

/**
 * The next event of a type about the test's call and the operation `k`, without these ids; fails the test
 * when it is of others.
 */
export const nextOf = async (application: TestApplication, type: string): Promise<AnyFrame> => {
  const { call_id, node_id, control_id, ...rest } = await application.event(`calling.call.${type}`)
  const wrong = call_id !== 'c-1' || node_id !== 'node-1' || (control_id !== undefined && control_id !== 'k')
  if (wrong) throw new Error(`${type} of ${call_id}, ${node_id}, ${control_id}`)
  return rest
}
