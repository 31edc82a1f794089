/** API test site: the whole site on a real in-memory directory with two projects. Only calls are fakes. */

import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { pino } from 'pino'
import type { HttpConfig } from '../../../config/types.ts'
import type { StatusCallback } from '../../../handlers/handler.ts'
import { checkDocument } from '../../../handlers/reading/check-document.ts'
import { DocumentChecks } from '../../../handlers/reading/checks.ts'
import type { DocumentReader } from '../../../handlers/reading/reader.ts'
import { mp4Converter } from '../../../media/ffmpeg/convert-mp4.ts'
import type { Certificate } from '../../auth/certificate.ts'
import type { ConferenceTokens } from '../../auth/conference-tokens.ts'
import { OAuthClients } from '../../auth/oauth/clients.ts'
import { openTokens } from '../../auth/open-tokens.ts'
import { ProjectAccess } from '../../auth/project-access.ts'
import type { RoomTokens } from '../../auth/room-tokens.ts'
import type { SubscriberTokens } from '../../auth/subscriber-tokens.ts'
import type { TokenPairs } from '../../auth/token-pairs.ts'
import type { OpenConference } from '../../calls/conference/open-conferences.ts'
import type { OpenQueue } from '../../calls/queue/open-queues.ts'
import type { MemberFigures } from '../../calls/room/room-figures.ts'
import { CdrStore } from '../../cdr/cdr-store.ts'
import { endLostRooms } from '../../cdr/lost-rooms.ts'
import { RoomHistory } from '../../cdr/room-history.ts'
import { SubscriberHistory } from '../../cdr/subscriber-history.ts'
import { leftBy } from '../../cdr/testing/call-summaries.ts'
import { Chat } from '../../chat/chat.ts'
import { FakeClock } from '../../core/clock.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import { Metrics } from '../../core/metrics.ts'
import { Origins } from '../../core/web/origins.ts'
import { TrustedProxies } from '../../core/web/trusted-proxies.ts'
import type { Directory } from '../../directory/directory.ts'
import { createDirectory } from '../../directory/directory.ts'
import type { DirectoryConfig } from '../../directory/provision/declared.ts'
import { CallRows } from '../../directory/tables/calls.ts'
import { CdrRows } from '../../directory/tables/cdrs.ts'
import { ConversationRows } from '../../directory/tables/conversations.ts'
import { IdempotencyRows } from '../../directory/tables/idempotency.ts'
import { RoomSessionRows } from '../../directory/tables/room-sessions.ts'
import { SubscriberCallRows } from '../../directory/tables/subscriber-calls.ts'
import { quickPasswords } from '../../directory/testing/passwords.ts'
import { Recordings } from '../../recordings/recordings.ts'
import type { RoomSettings } from '../../rooms/room-types.ts'
import { SampleRoom } from '../../rooms/testing/sample-room.ts'
import { HttpServers } from '../http-servers.ts'
import { IdempotentRequests } from '../requests/idempotent-requests.ts'
import { errorStatusesOf } from '../requests/openapi-statuses.ts'
import { RequestLimits } from '../requests/request-limits.ts'
import { type ApiCalls, RestApi } from '../rest-api.ts'

const secret = new Uint8Array(32).fill(7)
const script = {
  kind: 'script',
  document: '{"version":"1.0.0","sections":{"main":["answer"]}}',
  name: 'x',
} as const

/** Health of the carrier acme of the first project. */
export const health = { state: 'unknown', registration: null, targets: [] } as const

/** Project of the test site, with its credentials. */
export interface TestProject {
  readonly id: string
  readonly apiToken: string
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** An answer. */
export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: the shapes of answers are what is tested.
  readonly body: any
}

/** Returns the fields that a response reports as faulty. */
export const attributes = ({ body }: Answer): string[] =>
  body.errors.map(({ attribute }: { readonly attribute: string }) => attribute)

const answerOf = ({ statusCode, body }: { readonly statusCode: number; readonly body: string }): Answer => ({
  status: statusCode,
  body: body === '' ? undefined : JSON.parse(body),
})

/** The first project, which the file names first. */
export const ours: TestProject = { id: 'p1', apiToken: 'token-of-the-first-project' }
/** The second one. */
export const theirs: TestProject = { id: 'p2', apiToken: 'token-of-the-second-project' }

/** Basic auth of a project. */
export const asProject = ({ id, apiToken }: TestProject = ours) => ({
  authorization: `Basic ${Buffer.from(`${id}:${apiToken}`).toString('base64')}`,
})

/** Declared directory. The second project has the same names as the first. */
const declared = (): DirectoryConfig => ({
  project: ours.id,
  projects: [ours, theirs].map(({ id, apiToken }) => ({ id, name: id, apiToken, signingKeys: [] })),
  sip: { registrar: { domains: ['phones.example', 'sip.example'] } },
  domains: [{ domain: 'demo.example', allow: ['127.0.0.0/8'], handler: script }],
  endpoints: [
    {
      username: 'desk1',
      password: 'long-enough',
      name: 'phone',
      context: 'private',
      mayDialOut: false,
      maxCalls: 10,
      callsPerSecond: 2,
      codecs: ['PCMU'],
    },
  ],
  subscribers: [
    {
      email: 'alice@example.test',
      password: 'wonder',
      name: 'alice',
      context: 'public',
      firstName: 'Alice',
      displayName: 'Alice',
      mayDialOut: true,
    },
    {
      project: theirs.id,
      email: 'alice@example.test',
      password: 'other',
      name: 'alice',
      context: 'public',
      firstName: 'Alice',
      displayName: 'Another Alice',
      mayDialOut: false,
    },
  ],
  resources: [
    { address: '/public/help', displayName: 'Help', handler: script },
    { address: '/private/desk', displayName: 'Desk', handler: script },
    { project: theirs.id, address: '/public/help', displayName: 'Their help', handler: script },
  ],
})

/** The whole HTTP side, not listening; one for each test, or for a file. */
export class ApiTestSite {
  readonly clock = new FakeClock()
  readonly metrics = new Metrics()
  /** Lines of the log. */
  readonly lines: string[] = []
  readonly folder = mkdtempSync(join(tmpdir(), 'trunkline-api-'))
  /** Reasons for not being ready. */
  reasons: string[] = []
  directory!: Directory
  recordings!: Recordings
  records!: CdrStore
  history!: SubscriberHistory
  roomHistory!: RoomHistory
  tokens!: SubscriberTokens
  roomTokens!: RoomTokens
  conferenceTokens!: ConferenceTokens
  pairs!: TokenPairs
  site!: FastifyInstance
  /** Conferences and queues in progress, by project. */
  readonly conferences = new Map<string, readonly OpenConference[]>()
  readonly queues = new Map<string, readonly OpenQueue[]>()
  /** Room sessions in progress of all projects, and the status callbacks of rooms. */
  readonly rooms: SampleRoom[] = []
  /** Figures of members of rooms by their ids. */
  readonly figures = new Map<string, MemberFigures>()
  /** Whether the gateway has ffmpeg. */
  hasFfmpeg = true
  readonly roomCallbacks: StatusCallback[] = []
  /** Events that were sent to browsers. */
  readonly events: { readonly to: string; readonly event: string; readonly params: object }[] = []
  /** Reader of long documents: without threads, unless a test gives another. */
  reader: Pick<DocumentReader, 'check'> = { check: async (kind, text) => checkDocument(kind, text) }
  /** Operations with statuses that they do not declare. */
  readonly #undeclared = new Set<string>()
  #access!: ProjectAccess
  #chat!: Chat
  /** Fake without calls. */
  readonly #calls: ApiCalls = {
    placement: {
      place: async () => Promise.reject(new TrunklineError('over_call_limit')),
      redirect: async () => Promise.reject(new TrunklineError('unknown_call')),
      end: async () => Promise.reject(new TrunklineError('unknown_call')),
    },
    commands: { run: async () => Promise.reject(new TrunklineError('unknown_call')) },
    live: { live: () => undefined },
    conferences: { of: async (projectId) => this.conferences.get(projectId) ?? [] },
    queues: { of: (projectId) => this.queues.get(projectId) ?? [] },
    sideDocuments: { runAside: async () => {} },
    callbacks: { notify: () => {} },
    documentChecks: new DocumentChecks({ check: (kind, text) => this.reader.check(kind, text) }, this.clock),
  }

  /** Close it with {@link close}. */
  static async open(changes: Partial<HttpConfig> = {}): Promise<ApiTestSite> {
    const rig = new ApiTestSite()
    await rig.#open()
    rig.site = await rig.servers(changes).site()
    await rig.site.ready()
    return rig
  }

  readonly log = pino({ level: 'trace' }, { write: (line: string) => this.lines.push(line) })

  /** Further servers on the same directory. */
  servers(
    changes: Partial<HttpConfig> = {},
    certificate?: Certificate,
    applicationServerKey?: string,
  ): HttpServers {
    const { clock, log, metrics, directory, tokens, roomTokens, pairs, recordings, records, folder } = this
    const config = {
      plain: { address: '127.0.0.1', port: 0 },
      tls: false,
      metrics: null,
      origins: [],
      trustedProxies: [],
      maxConnections: 1_024,
      maxConnectionsPerAddress: 64,
      headersTimeoutMs: 10_000,
      ...changes,
    } satisfies HttpConfig
    const rows = new IdempotencyRows(directory.store)
    const origins = new Origins(config.origins)
    const hasFfmpeg = () => this.hasFfmpeg
    const api = new RestApi({
      project: ours.id,
      directory,
      credentials: {
        origins,
        access: this.#access,
        tokens,
        roomTokens,
        conferenceTokens: this.conferenceTokens,
        pairs,
        oauthClients: new OAuthClients(directory.store, () => clock.now(), { revokeClient: async () => {} }),
      },
      calls: this.#calls,
      archive: { cdrs: records, history: records, recordings, subscriberCalls: this.history },
      video: {
        history: this.roomHistory,
        rooms: {
          get hasFfmpeg() {
            return hasFfmpeg()
          },
          session: (projectId, id) => this.#session(projectId, id),
          figuresOf: (_session, memberId) => this.figures.get(memberId),
        },
      },
      chat: this.#chat,
      carrierHealth: (name) => (name === 'p1/acme' ? health : undefined),
      clock,
      log,
    })
    return new HttpServers({
      config,
      ...(certificate && { certificate }),
      guards: {
        origins,
        proxies: new TrustedProxies(config.trustedProxies),
        rates: new RequestLimits(clock, { perToken: 1_000_000, perAddress: 1_000_000 }),
        idempotency: new IdempotentRequests({ rows, secret, clock }),
      },
      content: {
        api: { addTo: (site) => this.#watched(site, api) },
        readiness: { reasons: () => this.reasons },
        docs: join(folder, 'docs'),
        pages: { console: join(folder, 'console'), sdk: join(folder, 'sdk') },
        applicationServerKey: () => applicationServerKey,
      },
      metrics,
      clock,
      log,
    })
  }

  /** Sends a request as a project; default the first. */
  ask(method: Method, url: string, payload?: object, project = ours) {
    return this.site.inject({ method, url, headers: asProject(project), ...(payload && { payload }) })
  }

  /** Same as {@link ask}, but returns the parsed response. */
  async send(method: Method, url: string, payload?: object, project = ours): Promise<Answer> {
    return answerOf(await this.ask(method, url, payload, project))
  }

  /** Creates an object and returns its body. Throws if the request is rejected. */
  async make(url: string, payload: object): Promise<Answer['body']> {
    const { status, body } = await this.send('POST', url, payload)
    if (status !== 201) throw new Error(`${status} ${JSON.stringify(body)}`)
    return body
  }

  /** A GET with a subscriber access token. */
  async get(url: string, token: string): Promise<Answer> {
    return answerOf(await this.askAs({ url, token }))
  }

  /** Issues an access token of a declared subscriber. */
  async tokenOf(email: string, project = ours, seconds = 600): Promise<string> {
    const subscriber = this.directory.subscriberByEmail(project.id, email)
    if (!subscriber) throw new Error(`The rig knows no ${email}.`)
    return (await this.tokens.issue(subscriber, seconds)).token
  }

  /** Sends a request with a subscriber access token; default that of Alice in the first project. */
  async askAs(options: InjectOptions & { readonly token?: string }) {
    const { token = await this.tokenOf('alice@example.test'), headers, ...rest } = options
    return this.site.inject({ ...rest, headers: { authorization: `Bearer ${token}`, ...headers } })
  }

  /** Opens a session of a room that has no member yet; its clock is that of the site. */
  openRoom(settings: Partial<RoomSettings>): SampleRoom {
    const room = new SampleRoom(settings, 'speaker', { id: randomUUID(), clock: this.clock })
    this.rooms.push(room)
    this.roomHistory.watch(room.session)
    return room
  }

  /** Closes the site. Throws if an operation has answered with a status that it does not declare. */
  async close(): Promise<void> {
    await this.site.close()
    await this.recordings.close()
    await this.records.close()
    await this.history.close()
    await this.roomHistory.close()
    this.directory.close()
    rmSync(this.folder, { recursive: true, force: true })
    if (this.#undeclared.size > 0) throw new Error(`Not declared: ${[...this.#undeclared].join(', ')}`)
  }

  /** Adds the routes of the API, and watches the statuses of their responses. */
  async #watched(site: FastifyInstance, api: RestApi): Promise<void> {
    site.addHook('onResponse', async ({ method, routeOptions: { url, schema } }, { statusCode }) => {
      if (url === undefined || !schema?.tags) return
      const declared = [...Object.keys(schema.response ?? {}), ...errorStatusesOf({ method, url, schema })]
      if (!declared.map(Number).includes(statusCode))
        this.#undeclared.add(`${schema.operationId} ${statusCode}`)
    })
    await api.addTo(site)
  }

  async #open(): Promise<void> {
    const { clock, log, metrics, folder } = this
    this.directory = await createDirectory({
      file: ':memory:',
      config: declared(),
      secret,
      clock,
      log,
      passwords: quickPasswords(),
    })
    const { tokens, roomTokens, conferenceTokens, pairs } = await openTokens(this.directory, {
      secret,
      clock,
    })
    this.tokens = tokens
    this.roomTokens = roomTokens
    this.conferenceTokens = conferenceTokens
    this.pairs = pairs
    this.#access = new ProjectAccess({ projects: this.directory.projects, clock })
    const { store, resources } = this.directory
    const browsers = {
      emit: (to: string, event: string, params: object) => void this.events.push({ to, event, params }),
    }
    this.#chat = new Chat({ rows: new ConversationRows(store), resources, browsers, clock, log })
    this.records = await CdrStore.open({
      calls: new CallRows(store),
      cdrs: new CdrRows(store),
      nodeId: 'rig',
      ...leftBy(clock),
      keepMs: 400 * 86_400_000,
      clock,
      log,
      metrics,
    })
    this.history = new SubscriberHistory(
      { rows: new SubscriberCallRows(store), nodeId: 'rig', clock, log, metrics },
      400 * 86_400_000,
    )
    await this.#openRoomHistory()
    this.recordings = await Recordings.open({
      convert: mp4Converter(undefined),
      rows: this.directory.recordings,
      clock,
      metrics,
      secret,
      log,
      folder: join(folder, 'recordings'),
      minFree: 0,
      roomFormat: 'webm',
      linkAgeMs: 3_600_000,
      longestMs: 14_400_000,
      nodeId: 'rig',
      base: () => 'https://gw.example',
      callbacks: { notify: () => {} },
      http: { upload: async () => 200 },
      freeBytes: async () => 1 << 30,
    })
  }

  async #openRoomHistory(): Promise<void> {
    const { clock, log, metrics, directory } = this
    const rows = new RoomSessionRows(directory.store)
    const callbacks = {
      notify: (_from: object, callback: StatusCallback) => void this.roomCallbacks.push(callback),
    }
    this.roomHistory = await RoomHistory.open(
      { rows, nodeId: 'rig', callbacks, clock, log, metrics },
      {
        keepMs: 400 * 86_400_000,
        wasThereAt: clock.now(),
        end: endLostRooms(clock),
        onCallbacks: () => {},
      },
    )
  }

  #session(projectId: string, id: string) {
    const sessions = this.rooms.map(({ session }) => session)
    return sessions.find(
      (session) => session.id === id && session.settings.projectId === projectId && !session.isEnded,
    )
  }
}
