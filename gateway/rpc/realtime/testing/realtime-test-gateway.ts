/** Application side of a gateway for tests: real sockets, fake calls. */
import pino from 'pino'
import { FakeCall } from '../../../../handlers/testing/fake-call.ts'
import { FakeContext } from '../../../../handlers/testing/fake-context.ts'
import { TestScripts } from '../../../../handlers/testing/test-scripts.ts'
import { ProjectAccess } from '../../../auth/project-access.ts'
import { TestTokens } from '../../../auth/testing/api-tokens.ts'
import type { RunAgent } from '../../../calling/operations/agent-operation.ts'
import type { OriginatedLeg, Origination } from '../../../calls/connect/origination.ts'
import { FakeClock } from '../../../core/clock.ts'
import { Metrics } from '../../../core/metrics.ts'
import { Origins } from '../../../core/web/origins.ts'
import { RpcServer } from '../../rpc-server.ts'
import type { RpcSession } from '../../rpc-session.ts'
import { SignInHandler } from '../../sign-in-handler.ts'
import { type AnyFrame, listeningServer, TestBrowser } from '../../testing/test-browser.ts'
import { RealtimeDialect } from '../realtime-dialect.ts'
import { TestRooms } from './test-rooms.ts'

/** API token of the project `demo`. */
export const apiToken = 'an-api-token'
/** API token of the same project that permits only reading records. */
export const recordsToken = 'a-token-for-records'
/** API token that expires after 20 seconds. */
export const endingToken = 'a-token-that-ends'
/** API token of the project `other`. */
export const othersToken = 'an-api-token-of-another-project'

/** Client process. */
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

  /** Returns the params of the next event of a type. */
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

/** Gateway behind the applications. */
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
  readonly rooms = new TestRooms()
  /** Runs the scripts of voice agents. */
  readonly scripts = new TestScripts()
  /** Context of voice agents. */
  readonly context = new FakeContext()
  readonly dialect: RealtimeDialect
  readonly rpc: RpcServer
  #http!: Awaited<ReturnType<typeof listeningServer>>

  constructor() {
    const { clock, metrics, rooms } = this
    const log = pino({ level: 'trace' }, { write: (line: string) => this.lines.push(line) })
    const originator = {
      originate: (origination: Origination) => {
        this.originations.push(origination)
        return this.originate(origination)
      },
    }
    const access = new ProjectAccess({ projects: this.projects, clock })
    const nodeId = 'node-1'
    const runAgent: RunAgent = (control, request) => this.scripts.runAgent(control, this.context, request)
    this.dialect = new RealtimeDialect({ access, originator, rooms, runAgent, metrics, clock, log, nodeId })
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
    const gateway = new RealtimeTestGateway()
    gateway.#http = await listeningServer()
    gateway.rpc.attach(gateway.#http.server)
    return gateway
  }

  async close(): Promise<void> {
    this.dialect.close()
    this.rpc.close()
    await this.scripts.close()
    await this.#http.close()
  }

  async application(): Promise<TestApplication> {
    return new TestApplication(await TestBrowser.open(this.#http.port))
  }

  /** Opens an application that listens on `office`. */
  async listener(more: AnyFrame = {}): Promise<TestApplication> {
    const application = await this.application()
    await application.connect(['office'], more)
    return application
  }

  /** Offers a call to `office`; `over` is the outcome. */
  arrives(call = new FakeCall()): { readonly call: FakeCall; readonly over: Promise<unknown> } {
    const over = this.dialect.run(call, 'office').then(
      () => 'over',
      (error: unknown) => error,
    )
    return { call, over }
  }

  /** Lets an application take and answer a call, and drops the verbs so far. */
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

/** Leg of an originated call, with states that the test reports. */
export class FakeLeg implements OriginatedLeg {
  readonly callId: string
  readonly destination: OriginatedLeg['destination']
  readonly type = 'sip'
  report: (state: 'ringing' | 'answered' | 'ended') => void = () => {}

  constructor(callId: string, destination: OriginatedLeg['destination']) {
    this.callId = callId
    this.destination = destination
  }

  onState(listener: (state: 'ringing' | 'answered' | 'ended') => void): void {
    this.report = listener
  }
}

/**
 * Returns the next event of a type about the test's call and the operation `k`, without these ids. Throws for
 * other ids.
 */
export const nextOf = async (application: TestApplication, type: string): Promise<AnyFrame> => {
  const { call_id, node_id, control_id, ...rest } = await application.event(`calling.call.${type}`)
  const wrong = call_id !== 'c-1' || node_id !== 'node-1' || (control_id !== undefined && control_id !== 'k')
  if (wrong) throw new Error(`${type} of ${call_id}, ${node_id}, ${control_id}`)
  return rest
}
