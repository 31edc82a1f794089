import { randomUUID } from 'node:crypto'
import { CallEnded, VerbFailed } from '../../../handlers/verbs.ts'
import { type ProjectAccess, permits } from '../../auth/project-access.ts'
import { Fields, listOf, Refusal, textOf } from '../../calling/operations/command-fields.ts'
import { ok } from '../../calling/operations/command-table.ts'
import { catalogue, codeOf } from '../../core/errors/catalogue.ts'
import type { Log } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { ApiToken } from '../../directory/model/ports.ts'
import { asRecord, RpcError, rpcCodes } from '../frames.ts'
import { closeCodes, type Reply, type RpcHandler, type RpcSession } from '../rpc-session.ts'
import { type Application, maxTopics } from './application.ts'
import type { ApplicationRegistry } from './application-registry.ts'
import { type ApplicationRooms, applicationRoomMethods } from './application-rooms.ts'
import { callRequests, peerRequests } from './call-requests.ts'
import type { ApplicationDialer } from './dial-request.ts'

/** Collaborators of {@link ApplicationConnection}. */
export interface ApplicationConnectionDeps {
  readonly access: ProjectAccess
  readonly registry: ApplicationRegistry
  readonly dialer: ApplicationDialer
  readonly rooms: ApplicationRooms
  readonly log: Log
  readonly metrics: Pick<Metrics, 'rejections'>
}

type Params = Readonly<Record<string, unknown>>

const maxTopicLength = 255
const maxAgentLength = 200

/** Application dialect on one WebSocket. */
export class ApplicationConnection implements RpcHandler {
  readonly methods: ReadonlySet<string>
  readonly #deps: ApplicationConnectionDeps
  readonly #session: RpcSession
  /** Network address of the client. */
  readonly #address: string
  #application: Application | undefined
  /** Ends the watch of the token. */
  #unwatch: (() => void) | undefined

  constructor(deps: ApplicationConnectionDeps, session: RpcSession, address: string) {
    this.#deps = deps
    this.#session = session
    this.#address = address
    const own = ['signalwire.connect', 'calling.dial', 'calling.pass']
    const calls = [...Object.keys(this.#handlers), ...Object.keys(callRequests)]
    this.methods = new Set([...own, ...calls, ...applicationRoomMethods])
  }

  async handle(method: string, params: Params): Promise<Reply> {
    try {
      if (method === 'signalwire.connect') return this.#connect(params)
      if (!this.#application) throw new RpcError(rpcCodes.auth, 'send signalwire.connect first')
      return await this.#answer(this.#application, method, params)
    } catch (error) {
      const refusal = refusalOf(error)
      if (method === 'signalwire.connect') throw new RpcError(rpcCodes.params, refusal.message)
      return { result: refusal }
    }
  }

  closed(): void {
    this.#unwatch?.()
    const application = this.#application
    if (application?.unbind(this.#session)) this.#deps.registry.socketLost(application)
  }

  readonly #handlers: Readonly<Record<string, (application: Application, params: Fields) => Reply>> = {
    'signalwire.ping': (_application, params) => ({ result: { timestamp: params.raw('timestamp') } }),
    'signalwire.receive': (application, params) => this.#receive(application, params),
    'signalwire.unreceive': (application, params) => {
      this.#deps.registry.unlisten(application, topicsOf(params))
      return { result: ok() }
    },
  }

  #answer(application: Application, method: string, params: Params): Reply | Promise<Reply> {
    const fields = new Fields(params)
    if (Object.hasOwn(this.#handlers, method)) return this.#handlers[method]!(application, fields)
    if (method === 'calling.dial') return this.#deps.dialer.dial(application, fields)
    if (applicationRoomMethods.has(method)) return this.#deps.rooms.handle(application, method, fields)
    if (!Object.hasOwn(callRequests, method) && method !== 'calling.pass')
      throw new RpcError(rpcCodes.method, method.slice(0, 60))
    return this.#ofCall(application, method, fields)
  }

  #ofCall(application: Application, method: string, params: Fields): Reply | Promise<Reply> {
    const id = params.needed('call_id')
    const call = application.calls.get(id)
    if (call && method === 'calling.pass') {
      call.pass()
      return { result: ok({ call_id: id }) }
    }
    if (call) {
      call.take()
      return callRequests[method]!(call, params)
    }
    const found = application.peers.get(id)
    if (!found) throw new Refusal('404', `call_id: no call ${id.slice(0, 60)}`)
    const request = Object.hasOwn(peerRequests, method) ? peerRequests[method] : undefined
    if (!request) throw new Refusal('422', `${method} is not available for a connected leg`)
    return request(found.call, found.peer, params)
  }

  #connect(params: Params): Reply {
    const { registry, log } = this.#deps
    const token = this.#signIn(params)
    const { projectId } = token
    const topics = topicsOf(new Fields(params))
    const application = this.#applicationFor(params, projectId)
    // Called first, because it may throw and nothing may have changed then.
    this.#listen(application, topics)
    this.#watch(token)
    this.#bindToSocket(application)
    const { protocol, signature, agent } = application
    log.info(
      {
        event: 'application.connected',
        session: this.#session.id,
        protocol,
        agent,
        topics: [...application.topics],
        applications: registry.size,
      },
      'application connected',
    )
    return {
      result: {
        identity: `${randomUUID()}@${application.nodeId}`,
        protocol,
        ice_servers: [],
        authorization: {
          type: 'project',
          project: projectId,
          project_id: projectId,
          expires_at: null,
          scopes: ['calling', 'video'],
          signature,
        },
      },
      after: () => application.flush(),
    }
  }

  /**
   * Returns the API token of the credentials. Throws the error that clients recognise as an authentication
   * failure.
   */
  #signIn(params: Params): ApiToken {
    const { access, log, metrics } = this.#deps
    const given = asRecord(params.authentication)
    const project = given?.project
    const token = given?.token
    const isGiven = typeof project === 'string' && typeof token === 'string'
    const found = isGiven ? access.tokenOf(project, token) : undefined
    if (found && permits(found, 'applications')) return found
    const code = found ? 'insufficient_scope' : this.#wrongToken()
    metrics.rejections.inc({ code })
    // Once the limit of wrong tokens is reached, logs at debug level, so that the log does not fill up.
    log[code === 'too_many_requests' ? 'debug' : 'warn'](
      { event: 'application.rejected', code, session: this.#session.id, source: this.#address },
      'application rejected',
    )
    throw new RpcError(rpcCodes.auth, catalogue[code].text)
  }

  /** Closes the session when its token is revoked or expires. */
  #watch(token: ApiToken): void {
    const { access, log } = this.#deps
    this.#unwatch?.()
    this.#unwatch = access.watch(token, 'applications', () => {
      log.warn(
        {
          event: 'application.token-revoked',
          code: 'unauthorized',
          session: this.#session.id,
          token: token.id,
        },
        'API token of an application revoked',
      )
      this.#session.close(closeCodes.policy, 'the API token is no longer valid')
    })
  }

  #wrongToken(): 'too_many_requests' | 'unauthorized' {
    return this.#deps.access.failed(this.#address) > 0 ? 'too_many_requests' : 'unauthorized'
  }

  /**
   * Returns the known application if the client reconnects or signs in again; otherwise a new application.
   */
  #applicationFor(params: Params, projectId: string): Application {
    const { registry } = this.#deps
    const { protocol } = params
    const known = typeof protocol === 'string' ? registry.find(protocol) : undefined
    if (known?.projectId === projectId) return known
    if (this.#application?.projectId === projectId) return this.#application
    const agent = typeof params.agent === 'string' ? params.agent.slice(0, maxAgentLength) : ''
    return registry.create({ projectId, agent, isAcknowledging: params.event_acks === true })
  }

  #bindToSocket(application: Application): void {
    const { registry } = this.#deps
    const former = this.#application
    this.#application = application
    if (former && former !== application && former.unbind(this.#session)) registry.socketLost(former)
    if (registry.find(application.protocol) === application) registry.socketBack(application)
    else registry.add(application)
    application.bind(this.#session)
  }

  #receive(application: Application, params: Fields): Reply {
    const topics = topicsOf(params)
    if (topics.length === 0) throw params.wrong('contexts', 'a list of at least one')
    this.#listen(application, topics)
    return { result: ok() }
  }

  #listen(application: Application, topics: readonly string[]): void {
    if (!application.hasRoom(topics)) throw new Refusal('400', `at most ${maxTopics} topics at once`)
    this.#deps.registry.listen(application, topics)
  }
}

/** Returns the topics in `contexts` or `topics`. */
const topicsOf = (params: Fields): string[] => {
  const name = params.raw('topics') === undefined ? 'contexts' : 'topics'
  const given = params.raw(name)
  if (given === undefined) return []
  return listOf(given, name, maxTopics, (value, path) => {
    const topic = textOf(value, path)
    if (topic.length > maxTopicLength)
      throw new Refusal('400', `${path}: at most ${maxTopicLength} characters`)
    return topic
  })
}

/** Converts a rejection to a result with a `code`, where clients expect it. Rethrows every other error. */
const refusalOf = (error: unknown): { code: string; message: string } => {
  if (error instanceof Refusal) return { code: error.code, message: error.message }
  if (error instanceof CallEnded) return { code: '404', message: error.message }
  if (error instanceof VerbFailed)
    return { code: String(catalogue[codeOf(error)].http), message: `${error.code}: ${error.message}` }
  throw error
}
