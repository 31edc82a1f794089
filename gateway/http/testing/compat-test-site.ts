/** Test site of the XML family: fakes of calls and their history, and real components otherwise. */
import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import type { StatusCallback } from '../../../handlers/handler.ts'
import { checkDocument } from '../../../handlers/reading/check-document.ts'
import { DocumentChecks } from '../../../handlers/reading/checks.ts'
import type { FakeCall } from '../../../handlers/testing/fake-call.ts'
import type { RecordOptions } from '../../../handlers/verbs.ts'
import { accessWith } from '../../auth/testing/api-tokens.ts'
import type { CallOrder, CallPlacement } from '../../calling/call-placement.ts'
import type { LiveCall } from '../../calls/call/live-call.ts'
import { ProjectConferences } from '../../calls/conference/conferences.ts'
import type { CallHistory, CallQuery, CallRow } from '../../calls/log/call-rows.ts'
import { ProjectQueues } from '../../calls/queue/queues.ts'
import { ConferenceFixture } from '../../calls/testing/conference-fixture.ts'
import { TrunklineError } from '../../core/errors/catalogue.ts'
import type {
  NewResource,
  Resource,
  ResourceChange,
  ResourceType,
} from '../../directory/model/resource-types.ts'
import type { HandlerSpec, StatusTarget } from '../../model.ts'
import type { Recordings } from '../../recordings/recordings.ts'
import { FakeRecorder, type RecordingRig } from '../../recordings/testing/fake-recorder.ts'
import { newSite } from '../http-site.ts'
import { basicAuth } from '../requests/basic-auth.ts'
import type { CompatApplicationDeps } from '../routes/compat/compat-application-routes.ts'
import { type CompatDeps, compatRoutes } from '../routes/compat/compat-routes.ts'
import { ApiStreams } from '../routes/compat/compat-stream-routes.ts'

/** The project of most tests. */
export const ours = randomUUID()
/** Another project. */
export const theirs = randomUUID()

/** Basic auth of a project. */
export const asProject = (project: string = ours) => ({
  authorization: `Basic ${Buffer.from(`${project}:token of ${project}`).toString('base64')}`,
})

/** Calls and their history, in memory. */
export class FakeCalls implements CallPlacement, CallHistory {
  readonly rows: CallRow[] = []
  readonly orders: CallOrder[] = []
  readonly redirects: (readonly [id: string, handler: HandlerSpec, status: StatusTarget | undefined])[] = []
  readonly queries: CallQuery[] = []
  /** Error that the next operation throws. */
  failure: TrunklineError | undefined
  now = Date.UTC(2026, 0, 2, 3, 4, 5)

  /** A call of the project. */
  add(change: Partial<CallRow> = {}): CallRow {
    const row: CallRow = {
      id: randomUUID(),
      projectId: ours,
      direction: 'outbound-api',
      type: 'sip',
      from: '+15550001',
      to: 'sip:desk@carrier.example',
      status: 'in-progress',
      createdAt: this.now,
      ...change,
    }
    this.rows.unshift(row)
    return row
  }

  async place(order: CallOrder): Promise<CallRow> {
    this.#fail()
    this.orders.push(order)
    return this.add({ projectId: order.projectId, from: order.from, to: order.to, status: 'queued' })
  }

  async redirect(
    projectId: string,
    id: string,
    handler: HandlerSpec,
    status?: StatusTarget,
  ): Promise<CallRow> {
    const row = this.#going(projectId, id)
    this.redirects.push([id, handler, status])
    return row
  }

  async end(projectId: string, id: string, how: 'canceled' | 'completed'): Promise<CallRow> {
    const row = this.#going(projectId, id)
    if (how === 'canceled' && row.status === 'in-progress') throw new TrunklineError('call_not_in_progress')
    return { ...row, status: how, endedAt: this.now }
  }

  async find(projectId: string, id: string): Promise<CallRow | undefined> {
    return this.rows.find((row) => row.projectId === projectId && row.id === id)
  }

  async list(projectId: string, query: CallQuery) {
    this.queries.push(query)
    const fits = ({ to, from, status, projectId: of }: CallRow) =>
      of === projectId &&
      (query.to ?? to) === to &&
      (query.from ?? from) === from &&
      (query.status ?? status) === status
    const all = this.rows.filter(fits)
    const { number, size } = query
    return { items: all.slice(number * size, (number + 1) * size), total: all.length }
  }

  async remove(projectId: string, id: string): Promise<void> {
    const row = await this.find(projectId, id)
    if (!row) throw new TrunklineError('unknown_call')
    if (row.endedAt === undefined) throw new TrunklineError('call_in_progress')
    this.rows.splice(this.rows.indexOf(row), 1)
  }

  async settled(): Promise<void> {}

  #going(projectId: string, id: string): CallRow {
    this.#fail()
    const row = this.rows.find((each) => each.projectId === projectId && each.id === id)
    if (!row) throw new TrunklineError('unknown_call')
    if (row.endedAt !== undefined) throw new TrunklineError('call_not_in_progress')
    return row
  }

  #fail(): void {
    const { failure } = this
    this.failure = undefined
    if (failure) throw failure
  }
}

/** Applications and documents, in memory. */
const fakeResources = (now: () => number): CompatApplicationDeps['resources'] => {
  const all = new Map<string, Resource>()
  const find = (projectId: string, type: ResourceType | undefined, id: string) => {
    const found = all.get(id)
    return found?.projectId === projectId && found.type === (type ?? found.type) ? found : undefined
  }
  const had = (projectId: string, type: ResourceType | undefined, id: string): Resource => {
    const found = find(projectId, type, id)
    if (!found) throw new TrunklineError('unknown_resource')
    return found
  }
  return {
    find,
    list: (projectId: string, { types, displayName = '', number, size }) => {
      const fits = (one: Resource) =>
        one.projectId === projectId && types?.includes(one.type) && one.displayName.includes(displayName)
      const items = [...all.values()].filter(fits)
      return { items: items.slice(number * size, (number + 1) * size), total: items.length }
    },
    create: async (made: NewResource) => {
      const id = randomUUID()
      const address = { id: randomUUID(), context: 'public', name: id }
      const times = { createdAt: now(), updatedAt: now() }
      const resource = { ...made, id, address, managedByFile: false, ...times } as Resource
      all.set(id, resource)
      return resource
    },
    update: async (projectId: string, type: ResourceType, id: string, change: ResourceChange) => {
      const before = had(projectId, type, id)
      const details = { ...before.details, ...change.details }
      const after = { ...before, ...change, details } as Resource
      all.set(id, after)
      return after
    },
    remove: async (projectId: string, type: ResourceType | undefined, id: string) =>
      void all.delete(had(projectId, type, id).id),
  } as CompatApplicationDeps['resources']
}

/** Site that serves only the XML family's API. */
export class CompatTestSite {
  readonly calls = new FakeCalls()
  readonly rooms = new ConferenceFixture()
  readonly live = new Map<string, LiveCall>()
  /** Status callbacks of calls. */
  readonly callbacks: StatusCallback[] = []
  readonly sideDocuments: (readonly [callId: string, handler: HandlerSpec])[] = []
  readonly conferences: ProjectConferences
  readonly queues: ProjectQueues
  readonly site: FastifyInstance
  /** The port that recordings of calls are made of. */
  readonly recorder = new FakeRecorder()
  readonly #recordings: Recordings

  private constructor(site: FastifyInstance, recordings: Recordings) {
    this.site = site
    this.#recordings = recordings
    this.conferences = new ProjectConferences({ ...this.rooms, openMixer: this.rooms.openMixer, recordings })
    this.queues = new ProjectQueues(this.rooms)
  }

  static async open(recording: RecordingRig, recordings: Recordings): Promise<CompatTestSite> {
    const { metrics, clock } = recording
    const log = pino({ level: 'silent' })
    const site = newSite({ metrics, clock, log })
    const rig = new CompatTestSite(site, recordings)
    const tokens = [ours, theirs].map((project) => ({ project, secret: `token of ${project}` }))
    const deps: CompatDeps = {
      directory: {
        resources: fakeResources(() => clock.now()),
        projects: {
          project: (id) => (id === ours || id === theirs ? { id, name: 'the project' } : undefined),
        },
      },
      calls: {
        placement: rig.calls,
        live: { live: (project, id) => (project === ours ? rig.live.get(id) : undefined) },
        conferences: rig.conferences,
        queues: rig.queues,
        sideDocuments: {
          runAside: async ({ info, signal }, handler) => {
            rig.sideDocuments.push([info.callId, handler])
            await new Promise((over) => signal.addEventListener('abort', over))
          },
        },
        callbacks: { notify: (_from, callback) => void rig.callbacks.push(callback) },
        documentChecks: new DocumentChecks({ check: async (kind, text) => checkDocument(kind, text) }, clock),
      },
      archive: {
        history: rig.calls,
        cdrs: {
          record: async () => ({
            record_json: JSON.stringify({ legs: [{ audio: { mos: 4.2, far: { lost: 3, jitterMs: 1.5 } } }] }),
          }),
        },
        recordings,
      },
      streams: new ApiStreams(clock),
      requireProject: basicAuth(accessWith(tokens, clock)),
      clock,
      log,
    }
    await compatRoutes(site, deps)
    await site.ready()
    onTestFinished(() => site.close())
    return rig
  }

  /** A call in progress whose verbs a test sees. */
  answered(control: FakeCall): CallRow {
    const { callId: id } = control.info
    control.startRecording = async ({ format = 'wav', tracks = 'in' }: RecordOptions) => {
      const wanted = { projectId: ours, callId: id, legId: 'l1', request: { format, tracks } as const }
      const kept = this.#recordings.start(this.recorder, wanted)
      const result = {
        id: kept.id,
        url: kept.url,
        reason: 'stopped',
        durationMs: 2_000,
        bytes: 4_000,
      } as const
      return { ...kept, ended: kept.done.then(() => result) }
    }
    this.live.set(id, { control, state: 'answered', redirect: () => {}, end: () => {} })
    return this.calls.add({ id })
  }

  /** Sends a request as the first project, below its account; a body is a form. */
  ask(method: 'GET' | 'POST' | 'DELETE', path: string, form?: Form, as: AskedAs = {}) {
    const { project = ours, account = project, prefix = '/2010-04-01' } = as
    const body =
      form === undefined ? undefined : new URLSearchParams(form as Record<string, string>).toString()
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    return this.site.inject({
      method,
      url: `${prefix}/Accounts/${account}${path}`,
      headers: { ...asProject(project), ...(body !== undefined && type) },
      ...(body !== undefined && { payload: body }),
    })
  }
}

type Form = string | Record<string, string> | readonly (readonly [string, string])[]

interface AskedAs {
  readonly project?: string
  readonly account?: string
  readonly prefix?: string
}
