import type { CallStream } from '../../../../handlers/verbs.ts'
import type { Clock } from '../../../core/clock.ts'
import { TrunklineError } from '../../../core/errors/catalogue.ts'
import { parameter, shape } from './compat-shapes.ts'
import { formatTime } from './compat-times.ts'
import type { On, RouteSpec } from './form-routes.ts'
import { controlOf, type LiveCallDeps, whileInProgress } from './live-calls.ts'

/** Collaborators of the routes of streams. */
export interface CompatStreamDeps extends LiveCallDeps {
  readonly streams: ApiStreams
}

interface ApiStream {
  readonly projectId: string
  readonly callId: string
  readonly name: string | undefined
  readonly stream: CallStream
}

/** Running streams that this API has started. All listeners share one instance. */
export class ApiStreams {
  readonly #clock: Pick<Clock, 'now'>
  readonly #open = new Map<string, ApiStream>()

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  get count(): number {
    return this.#open.size
  }

  get now(): number {
    return this.#clock.now()
  }

  add(made: ApiStream): void {
    const { id, ended } = made.stream
    this.#open.set(id, made)
    void ended.then(() => this.#open.delete(id))
  }

  /** Throws `unknown_resource`. */
  find(projectId: string, callId: string, id: string): ApiStream {
    const found = this.#open.get(id)
    if (found?.projectId === projectId && found.callId === callId) return found
    throw new TrunklineError('unknown_resource')
  }
}

const tracks = { inbound_track: 'inbound', outbound_track: 'outbound', both_tracks: 'both' } as const

const answer = shape({
  sid: 'text',
  account_sid: 'text',
  call_sid: 'text',
  name: 'text?',
  status: 'text',
  date_updated: 'text',
  uri: 'text',
})

const path = '/Accounts/:account/Calls/:sid/Streams'

const starting = {
  id: 'startCompatStream',
  summary: 'Streams the audio of a call in progress',
  scope: 'calling',
  isCreating: true,
  body: {
    Url: { type: 'string', maxLength: 4_000, pattern: '^\\S+$' },
    Name: parameter.text(128),
    Track: {
      type: 'string',
      enum: ['inbound_track', 'outbound_track', 'both_tracks'],
      default: 'inbound_track',
    },
  },
  patterns: { '^Parameter[1-9][0-9]?\\.(Name|Value)$': { type: 'string', maxLength: 500 } },
  unused: ['StatusCallback', 'StatusCallbackMethod'],
  required: ['Url'],
  answer,
} as const satisfies RouteSpec

/** `Calls/{sid}/Streams`: start and stop. */
export const streamRoutes = (on: On, deps: CompatStreamDeps): void => {
  const { streams } = deps
  const body = ({ projectId, callId, name, stream }: ApiStream, base: string, status: string) => ({
    sid: stream.id,
    account_sid: projectId,
    call_sid: callId,
    name: name ?? null,
    status,
    date_updated: formatTime(streams.now),
    uri: `${base}/Calls/${callId}/Streams/${stream.id}`,
  })
  on('POST', path, starting, async ({ projectId, id, body: form, base }) => {
    if (!/^wss?:\/\//.test(form.Url))
      throw new TrunklineError('bad_stream', 'Url: expected one that starts with wss://.')
    const callId = id('sid')
    const control = await controlOf(deps, projectId, callId)
    const stream = await whileInProgress(
      control.startStream({
        url: form.Url,
        ...(form.Name !== undefined && { name: form.Name }),
        tracks: tracks[form.Track],
        parameters: parametersOf(form as Readonly<Record<string, string>>),
      }),
    )
    const made = { projectId, callId, name: form.Name, stream }
    streams.add(made)
    return body(made, base, 'in-progress')
  })
  on(
    'POST',
    `${path}/:part`,
    {
      id: 'stopCompatStream',
      summary: 'Stops a stream',
      scope: 'calling',
      answer,
      body: { Status: { type: 'string', enum: ['stopped'] } },
      required: ['Status'],
    },
    async ({ projectId, id, base }) => {
      const found = streams.find(projectId, id('sid'), id('part'))
      found.stream.stop()
      return body(found, base, 'stopped')
    },
  )
}

/** Returns the parameters of a stream: `Parameter1.Name` and `Parameter1.Value` are a name and its value. */
const parametersOf = (form: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(form).flatMap(([key, name]) => {
      const [, number] = /^Parameter(\d+)\.Name$/.exec(key) ?? []
      return number && name ? [[name, form[`Parameter${number}.Value`] ?? '']] : []
    }),
  )
