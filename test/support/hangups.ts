/** Callers who hang up while a handler is busy, and the checks afterwards. */
import { describe, expect, it } from 'vitest'
import { sine } from '../../media/codecs/tone.ts'
import { application } from './applications.ts'
import { Carrier } from './carrier.ts'
import { DocumentServer } from './documents.ts'
import { Gateway, type LogLine } from './gateway.ts'
import { shares } from './hearing.ts'
import { until } from './until.ts'
import { wav } from './wav.ts'

/** Tones of the caller, of the chime and of other parties, in Hz. */
export const tones = { caller: 440, chime: 700, other: 1000 } as const

/** Callback to the customer's server: the last part of its path, and some of its fields. */
export type Callback = readonly [name: string, fields: Readonly<Record<string, unknown>>]

/** Activity of a call at the moment when the caller hangs up. */
export interface Scene {
  readonly document: string
  /** SIPp scenario of the caller; default `call`. */
  readonly scenario?: string
  /** Waits until the activity has begun. */
  readonly moment: (caller: Carrier) => Promise<unknown>
  /** Other carriers, which end by themselves after the caller's hang-up. */
  readonly others?: readonly Carrier[]
  /** Other calls of the gateway, with records of their own. */
  readonly calls?: readonly Carrier[]
  /** All callbacks to the customer's server, in order; default none. */
  readonly callbacks?: readonly Callback[]
  /** Waits for further consequences. */
  readonly after?: () => Promise<unknown>
}

/** Gauge of an activity, without its prefix. */
type Gauge = 'verbs' | 'conferences' | 'queue_waiting' | 'recordings' | 'media_detections'

/** Scenes by activity and by kind of handler. */
export type Scenes = Readonly<Record<string, Readonly<Record<string, () => Scene | Promise<Scene>>>>>

/** A gateway whose documents change from call to call. */
export class Hangups {
  #gateway: Gateway | undefined
  #server: DocumentServer | undefined
  /** URL of a sound of 600 ms. */
  chime = ''

  /**
   * Starts the gateway. The domain of a kind of handler is `<kind>.test`, that of a second call
   * `other.<kind>.test`. Calls to `office.test` reach realtime applications.
   */
  async start(): Promise<void> {
    const server = await DocumentServer.open()
    this.#server = server
    this.chime = server.put('/chime.wav', wav(sine(tones.chime, 600, 8000, 8000), 8000))
    const domains = ['xml', 'script', 'flow'].flatMap((kind) => [
      application(`${kind}.test`, { kind, url: server.urlOf('/document') }),
      application(`other.${kind}.test`, { kind, url: server.urlOf('/other') }),
    ])
    const office = application('office.test', { kind: 'realtime', topic: 'office' })
    this.#gateway = await Gateway.start({ domains: [...domains, office] })
  }

  async stop(): Promise<void> {
    await this.#gateway?.stop()
    await this.#server?.close()
  }

  /** Throws before the start. */
  get gateway(): Gateway {
    if (!this.#gateway) throw new Error('no gateway was started')
    return this.#gateway
  }

  /** The customer's server. Throws before the start. */
  get server(): DocumentServer {
    if (!this.#server) throw new Error('no server was started')
    return this.#server
  }

  /** Returns a URL for callbacks. */
  url(name: string): string {
    return this.server.put(`/callback/${name}`, '<Response/>')
  }

  /** Callbacks so far, at the URLs of {@link url}. */
  get callbacks(): Callback[] {
    return this.server.requests
      .filter(({ path }) => path.startsWith('/callback/'))
      .map(({ path, fields, body }) => {
        const json = body.startsWith('{') ? (JSON.parse(body) as { params: object }).params : fields
        return [path.slice('/callback/'.length), json as Callback[1]] as const
      })
  }

  /** Waits for a callback with these fields. */
  receives(name: string, fields: Callback[1]): Promise<unknown> {
    const isIt = ([path, found]: Callback) =>
      path === name && Object.entries(fields).every(([key, value]) => found[key] === value)
    return until(
      `the callback ${name} with ${JSON.stringify(fields)}`,
      () => this.callbacks,
      (callbacks) => callbacks.some(isIt),
    )
  }

  /** Waits until a gauge has this value. */
  async reaches(gauge: Gauge, count = 1): Promise<void> {
    await until(
      `${gauge} is ${count}`,
      () => this.gateway.metric(gauge),
      (found) => found === count,
    )
  }

  /**
   * Plays a scene to its end. Expects that all activities end, that the callbacks are complete, and that each
   * call has one record.
   */
  async play(
    kind: string,
    { document, scenario = 'call', moment, callbacks = [], ...scene }: Scene,
  ): Promise<void> {
    this.server.requests.length = 0
    this.server.put('/document', document)
    const caller = await Carrier.calls(this.gateway, { domain: `${kind}.test`, scenario, holdMs: 'manual' })
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
    expect(this.callbacks).toMatchObject(callbacks)
  }

  /** Expects one record of the call, and no warning in the log. */
  async #wasRecorded(caller: Carrier): Promise<void> {
    const { call, code } = await this.gateway.record(caller.callId)
    expect(['normal', 'canceled']).toContain(code)
    const lines = this.gateway.log.filter((line) => line.call === call)
    const isRecord = ({ msg }: LogLine): boolean => msg === 'call ended'
    expect(lines.filter(isRecord)).toHaveLength(1)
    expect(lines.filter(({ level }) => level >= 40)).toEqual([])
  }
}

/** Declares a test for each scene. */
export const hangupTests = (stage: Hangups, scenes: Scenes): void =>
  describe.each(Object.entries(scenes))('the caller hangs up during %s', (_, kinds) => {
    it.each(Object.entries(kinds))(
      'the %s handler ends all activity and completes its callbacks',
      async (kind, scene) => {
        await stage.play(kind, await scene())
      },
    )
  })

/** Waits until the caller hears the chime. */
export const chimes = async (caller: Carrier): Promise<void> => {
  await caller.talks('answered', tones.caller)
  await until(
    'the chime is heard',
    () => shares(caller.media.packets.slice(-10), tones.chime),
    (parts) => parts.length > 0 && parts.every((share) => share > 0.7),
  )
}
