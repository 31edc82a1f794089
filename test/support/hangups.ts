/** Callers who hang up in the middle of what a handler does, and what has to be in order afterwards. */
import { expect } from 'vitest'
import { sine } from '../../media/codecs/tone.ts'
import { application } from './applications.ts'
import { Carrier } from './carrier.ts'
import { DocumentServer } from './documents.ts'
import { Gateway, type LogLine } from './gateway.ts'
import { shares } from './hearing.ts'
import { until } from './until.ts'
import { wav } from './wav.ts'

/** The caller's tone, and that of whoever else is there, in Hz. */
export const tones = { caller: 440, chime: 700, other: 1000 } as const

/** Something that the customer's server is told: the last part of its path, and some of its fields. */
export type Told = readonly [what: string, fields: Readonly<Record<string, unknown>>]

/** What is on when the caller hangs up. */
export interface Scene {
  readonly document: string
  /** Of the caller; default `call`. */
  readonly scenario?: string
  /** Waits until it is on. */
  readonly moment: (caller: Carrier) => Promise<unknown>
  /** Carriers besides, which end by themselves when the caller has hung up. */
  readonly others?: readonly Carrier[]
  /** Further calls of the gateway, with records of their own. */
  readonly calls?: readonly Carrier[]
  /** All that the customer's server is told, in order; default nothing. */
  readonly told?: readonly Told[]
  /** Waits for what has to come besides. */
  readonly after?: () => Promise<unknown>
}

/** What can be on, and how by each kind of handlers. */
export type Scenes = Readonly<Record<string, Readonly<Record<string, () => Scene | Promise<Scene>>>>>

/** A gateway whose documents change from call to call. */
export class Hangups {
  readonly gateway: Gateway
  readonly server: DocumentServer
  /** URL of a sound of 600 ms. */
  readonly chime: string

  private constructor(gateway: Gateway, server: DocumentServer) {
    this.gateway = gateway
    this.server = server
    this.chime = server.put('/chime.wav', wav(sine(tones.chime, 600, 8000, 8000), 8000))
  }

  /** Starts it; the domain of a kind of handlers is `<kind>.test`, that of a second call `other.<kind>.test`. */
  static async start(kinds: readonly string[], options: Parameters<typeof Gateway.start>[0] = {}) {
    const server = await DocumentServer.open()
    const domains = kinds.flatMap((kind) => [
      application(`${kind}.test`, { kind, url: server.urlOf('/document') }),
      application(`other.${kind}.test`, { kind, url: server.urlOf('/other') }),
    ])
    return new Hangups(await Gateway.start({ ...options, domains }), server)
  }

  async stop(): Promise<void> {
    await this.gateway.stop()
    await this.server.close()
  }

  /** A URL at which the server is told something. */
  url(what: string): string {
    return this.server.put(`/told/${what}`, '<Response/>')
  }

  /** What it was told so far, at the URLs of {@link url}. */
  get told(): Told[] {
    return this.server.requests
      .filter(({ path }) => path.startsWith('/told/'))
      .map(({ path, fields, body }) => {
        const json = body.startsWith('{') ? (JSON.parse(body) as { params: object }).params : fields
        return [path.slice(6), json as Told[1]] as const
      })
  }

  /** Waits until it was told of something in the state that the fields say. */
  hears(what: string, fields: Told[1]): Promise<unknown> {
    const isIt = ([name, said]: Told) =>
      name === what && Object.entries(fields).every(([key, value]) => said[key] === value)
    return until(
      `${what} tells ${JSON.stringify(fields)}`,
      () => this.told,
      (told) => told.some(isIt),
    )
  }

  /** Waits until nothing but one verb of the call is on, and it is not the one whose end is waited for. */
  async reaches(gauge: 'verbs' | 'conferences' | 'queue_waiting' | 'recordings', count = 1): Promise<void> {
    await until(
      `${gauge} is ${count}`,
      () => this.gateway.metric(gauge),
      (found) => found === count,
    )
  }

  /** Plays a scene to its end. Everything that is on ends, the server was told what it is to be told, and there is one record of each call. */
  async play(
    kind: string,
    { document, scenario = 'call', moment, told = [], ...scene }: Scene,
  ): Promise<void> {
    this.server.requests.length = 0
    this.server.put('/document', document)
    const caller = await Carrier.calls(this.gateway, { domain: `${kind}.test`, scenario, holdMs: 'told' })
    await moment(caller)
    await caller.goesOn()
    for (const carrier of [caller, ...(scene.calls ?? []), ...(scene.others ?? [])]) await carrier.done()
    await this.gateway.settled()
    await scene.after?.()
    for (const call of [caller, ...(scene.calls ?? [])]) await this.#wasRecorded(call)
    await until(
      'every callback was taken',
      () => this.gateway.metric('callbacks_waiting'),
      (left) => left === 0,
    )
    expect(this.told).toMatchObject(told)
  }

  /** One record of the call, and nothing in the log that went wrong. */
  async #wasRecorded(caller: Carrier): Promise<void> {
    const { call, code } = await this.gateway.record(caller.callId)
    expect(['normal', 'canceled']).toContain(code)
    const lines = this.gateway.log.filter((line) => line.call === call)
    const isRecord = ({ msg }: LogLine): boolean => msg === 'call ended'
    expect(lines.filter(isRecord)).toHaveLength(1)
    expect(lines.filter(({ level }) => level >= 40)).toEqual([])
  }
}

/** Waits until the caller hears the chime. */
export const chimes = async (caller: Carrier): Promise<void> => {
  await caller.talks('answered', tones.caller)
  await until(
    'the chime is heard',
    () => shares(caller.media.packets.slice(-10), tones.chime),
    (parts) => parts.length > 0 && parts.every((share) => share > 0.7),
  )
}
